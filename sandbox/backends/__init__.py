"""Ways to isolate: each makes guests that speak `sandbox.wire` on one channel, behind the contracts of `base`.

A backend names the layers it requires, tests them by effect before the first guest, and does not start without one.
Backends do not know each other; `base.create_backend` imports the one that was chosen.
"""
