"""Objects by which Argo CD and Flux bring rendered manifests from git into a cluster.

They are not rendered with the models: users apply them once.
"""

from __future__ import annotations

from renderer.integrations.gitops.rendered_tree import RenderedTree, deployments, only_environment, rendered_tree
from renderer.integrations.gitops.source_flags import (
    EnvironmentSource,
    default_revision,
    environment_sources,
    validate_name,
)

__all__ = [
    "EnvironmentSource",
    "RenderedTree",
    "default_revision",
    "deployments",
    "environment_sources",
    "only_environment",
    "rendered_tree",
    "validate_name",
]
