"""The steps from llmaz's operator to rendered manifests, as commands for one cluster."""
