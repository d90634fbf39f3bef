"""The allowlist of the standard library, one file per field, each entry written by hand."""
