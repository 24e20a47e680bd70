"""All functions that Kubernetes has beside those of CEL."""

from __future__ import annotations

from renderer.cel import addresses, collections, formats, quantities, regexes, texts, urls, versions
from renderer.cel.compiler import Function

KUBERNETES: tuple[Function, ...] = (
    *quantities.FUNCTIONS,
    *versions.FUNCTIONS,
    *urls.FUNCTIONS,
    *addresses.FUNCTIONS,
    *collections.FUNCTIONS,
    *texts.FUNCTIONS,
    *regexes.FUNCTIONS,
    *formats.FUNCTIONS,
)
