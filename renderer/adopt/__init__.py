"""Reads manifests that serve models today, and writes the OpenModels and Playgrounds that serve them as well."""
