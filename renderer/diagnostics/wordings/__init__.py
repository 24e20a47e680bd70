"""The wordings of errors (E), of warnings (W: legal, but likely wrong) and of notes (N: not judged), a file an area."""
