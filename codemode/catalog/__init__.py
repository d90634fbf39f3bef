"""What servers offer, as frozen values: listings repaired tool by tool, Python names, effects, one immutable catalog.

Pure: no I/O, no clock, no randomness, no logging. Everything a server says enters here as hostile data.
"""
