"""The Python that programs may write: checks before a run, facades of modules, guards at run time. See README.md."""
