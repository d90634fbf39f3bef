"""The broker: the only door from a program to a tool.

`broker.py` has the order of checks, `arguments.py` the check of arguments against a tool's schema, `record.py` what is
remembered of a call.
"""
