"""The wordings of errors (E), of warnings (W: legal, but likely wrong) and of notes (N: not judged), a file an area."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording
from renderer.diagnostics.wordings.adoption import ADOPTION
from renderer.diagnostics.wordings.cluster import CLUSTER
from renderer.diagnostics.wordings.delivery import DELIVERY
from renderer.diagnostics.wordings.engines import ENGINES
from renderer.diagnostics.wordings.gateways import GATEWAYS
from renderer.diagnostics.wordings.input import INPUT
from renderer.diagnostics.wordings.migration import MIGRATION
from renderer.diagnostics.wordings.models import MODELS
from renderer.diagnostics.wordings.nodes import NODES
from renderer.diagnostics.wordings.pods import PODS
from renderer.diagnostics.wordings.policy import POLICY

AREAS: Final[dict[str, dict[str, Wording]]] = {
    "input": INPUT,
    "models": MODELS,
    "engines": ENGINES,
    "pods": PODS,
    "gateways": GATEWAYS,
    "cluster": CLUSTER,
    "nodes": NODES,
    "delivery": DELIVERY,
    "policy": POLICY,
    "adoption": ADOPTION,
    "migration": MIGRATION,
}
"""The wordings of each area, by code."""
AREA_TITLES: Final = {
    "input": "YAML, files, the command line, fields and values, names given twice",
    "models": "OpenModels: sources and formats of weights, flavors, caches and loaders, adapters",
    "engines": "engines and presets: options, versions, parallel sizes, KV cache, templates",
    "pods": "workloads and pods: resources, podTemplate, images, names, autoscalers",
    "gateways": "Gateways, routes, pools, public names, providers and budgets",
    "cluster": "objects that a cluster refuses, that lack what they refer to, or that do the same twice",
    "nodes": "NodePools, instance types and Karpenter",
    "delivery": "target versions, charts, kustomize, environments, Argo CD and Flux, git",
    "policy": "RenderPolicy, admission policies, files that no input makes",
    "adoption": "manifests that run already, as input of llmaz",
    "migration": "from the operator to rendered manifests",
}
"""What the codes of each area are about."""
WORDINGS: Final[dict[str, Wording]] = {code: wording for area in AREAS.values() for code, wording in area.items()}
"""The wording of every code."""
