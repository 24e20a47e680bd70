"""One app, decided: a file a record, each made of the one before it; nothing is judged here."""
