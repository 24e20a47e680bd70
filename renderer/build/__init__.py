"""A Plan → its Manifests: one module for each Kubernetes kind, or for few that belong together."""

from __future__ import annotations

from renderer.build.manifests import build_manifests, build_shared

__all__ = ["build_manifests", "build_shared"]
