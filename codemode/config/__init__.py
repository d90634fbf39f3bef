"""Configuration files → `Config`. `load.py` reads and merges, `entry.py` reads servers, `settings.py` our own keys."""
