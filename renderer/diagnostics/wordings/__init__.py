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

WORDINGS: Final[dict[str, Wording]] = (
    INPUT | MODELS | ENGINES | PODS | GATEWAYS | CLUSTER | NODES | DELIVERY | POLICY | ADOPTION | MIGRATION
)
"""The wording of every code."""
