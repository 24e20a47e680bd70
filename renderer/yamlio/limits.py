"""How much of a file is read."""

MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 100
MAX_EXPANDED = 100_000
