"""Runs: from a program's text to its outcome. The only package that knows the sandbox.

`execute.py` is the use case, stage by stage; `run.py` one run's state; `registry.py` a session's runs by label;
`outcome.py` translates the sandbox's results; `receipt.py` makes the durable record.
"""
