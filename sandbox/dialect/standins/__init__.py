"""Stand-ins for library modules that reach files, streams, the environment or names by text: a file each."""
