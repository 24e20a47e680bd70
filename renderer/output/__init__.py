"""Manifests as files: their texts, and the folder that holds them."""
