"""Rules of one kind that no schema holds."""
