"""The MCP front: exactly two tools, over stdio or loopback HTTP, in both protocol eras.

Enters: requests of a client. Leaves: answers of `codemode/prose`, made from the use cases of `codemode/host.py`.
"""
