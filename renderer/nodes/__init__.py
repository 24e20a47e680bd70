"""Nodes for the fleet: what the flavors in use ask of Karpenter, for `llmaz nodepools`."""

from renderer.nodes.file import settled
from renderer.nodes.making import Made, nodepools

__all__ = ["Made", "nodepools", "settled"]
