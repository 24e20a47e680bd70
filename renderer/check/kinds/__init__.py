"""Rules for one kind beside its schema."""
