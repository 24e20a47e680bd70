"""What is hidden as a secret: by the names of variables, options and keys, and by their values."""
