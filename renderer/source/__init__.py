"""Trees that input is read from: a disk, a git commit, files in memory."""
