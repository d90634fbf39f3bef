"""The parts of the ledger server: its data and, one file per subject, its tools."""
