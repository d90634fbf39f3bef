"""What outlives a run, on the host: the durable record of runs. One SQLite file, readable by its owner only."""
