"""Manifests as files: their texts, and the output folder."""
