"""Karpenter's node pools for the flavors that apps use, for `llmaz nodepools`."""

from renderer.nodes.manifests import NodePoolManifests, nodepools

__all__ = ["NodePoolManifests", "nodepools"]
