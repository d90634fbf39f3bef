"""What runs inside the boundary: zygote, seal, link, importer, run, report.

Imports the standard library, `sandbox.wire`, `sandbox.spec`, `sandbox.errors`, `sandbox.dialect`, `sandbox.linux`
and itself, nothing else; holds no secret and no connection but the one channel.
"""
