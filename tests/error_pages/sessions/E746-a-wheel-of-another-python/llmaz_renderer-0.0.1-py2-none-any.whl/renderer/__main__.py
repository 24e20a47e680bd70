"""A renderer that does not run."""

raise SystemExit("ImportError: libyaml-0.so.2: cannot open shared object file")
