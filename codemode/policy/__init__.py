"""The policy: what a call may do. Rules, effects and budgets decide `allow`, `ask` or `deny`; the strictest wins.

Pure but for `desk.py`, which holds questions until somebody answers them. Policy looks at raw server and tool names,
never at Python names: two tools whose names were mapped alike are two tools.
"""
