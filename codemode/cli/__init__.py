"""The command line: one file a command, data on standard output, everything else on standard error.

Enters: arguments. Leaves: text or one JSON document, and an exit code. Nothing heavy is imported before a command runs.
"""
