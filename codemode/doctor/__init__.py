"""What `codemode doctor` finds out: isolation, machine, servers, limits, rules, and what is wrong with them.

Enters: a `Config`. Leaves: a `Report` of plain values; the command line prints it. It starts servers and lists their
tools, and it changes nothing: no tool is called, nothing is approved, recorded, cached or logged to disk.
"""
