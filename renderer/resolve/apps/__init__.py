"""Playgrounds, Services and what leads to them: what puts the other rooms together."""
