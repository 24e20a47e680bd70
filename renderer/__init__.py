"""Expands llmaz OpenModel and Playground YAML into the plain manifests that GitOps tools sync."""

__version__ = "0.1.0"
