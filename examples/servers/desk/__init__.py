"""The parts of the helpdesk server: its data and, one file per subject, its tools."""
