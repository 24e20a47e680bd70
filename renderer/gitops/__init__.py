"""How rendered manifests get from git into a cluster: what Argo CD and Flux have to be told.

Objects for the tools themselves, which nobody renders with the models: they are pasted once.
"""

from __future__ import annotations

from renderer.gitops.places import Place, asked, places, revision
from renderer.gitops.settings import Tree, one, tree

__all__ = ["Place", "Tree", "asked", "one", "places", "revision", "tree"]
