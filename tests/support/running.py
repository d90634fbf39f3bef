"""Runs a program in an open sandbox, with a binding that reaches the test's own callback."""

import anyio

from sandbox import Reply, RunSpec

BINDING = """
from sandbox.guest.remote import Remote
import json
class Tool(Remote):
    def encode(self, args, kwargs):
        return "echo", json.dumps(kwargs).encode()
    def decode(self, form, payload):
        return json.loads(payload)
    def fail(self, payload):
        return ValueError(json.loads(payload)["message"])
echo = Tool()
"""


def echo(call):
    return Reply(payload=call.arguments)


async def run(box, source, **options):
    """The result of a program; `call` and `load` are the callbacks, everything else goes into its spec."""
    call, load = options.pop("call", None), options.pop("load", None)
    with anyio.fail_after(60):
        return await box.run(RunSpec(source=source, **options), call=call, load=load)
