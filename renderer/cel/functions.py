"""All functions that Kubernetes has beside those of CEL."""

from __future__ import annotations

from collections.abc import Sequence

from renderer.cel import addresses, collections, formats, quantities, regexes, urls, versions
from renderer.cel.environment import Function

KUBERNETES: Sequence[Function] = (
    *quantities.FUNCTIONS,
    *versions.FUNCTIONS,
    *urls.FUNCTIONS,
    *addresses.FUNCTIONS,
    *collections.FUNCTIONS,
    *regexes.FUNCTIONS,
    *formats.FUNCTIONS,
)
