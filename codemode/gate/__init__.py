"""The gate: a correctness aid that refuses a tool once, with its signature, when it has not been shown in a session.

`review.py` finds out which tools a program names; `loaded.py` remembers what was shown; `gate.py` decides. Pure: values
in, values out. The gate is no access control: what a program may do is for `codemode/policy`.
"""
