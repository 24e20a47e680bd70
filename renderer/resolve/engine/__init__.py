"""How an engine is run: its BackendRuntime compiled, its command line read and validated."""
