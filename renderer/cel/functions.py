"""All functions that Kubernetes has beside those of CEL. A module of them is loaded where an expression names one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Final

from renderer.cel.compiler import Function

MODULES: Final[Mapping[str, str]] = {
    "quantities": "quantity isQuantity sign isInteger asInteger asApproximateFloat add sub",
    "versions": "semver isSemver major minor patch isGreaterThan isLessThan compareTo",
    "urls": "url isURL getScheme getHost getHostname getPort getEscapedPath getQuery",
    "addresses": (
        "ip isIP isCanonical family isUnspecified isLoopback isLinkLocalUnicast isLinkLocalMulticast isGlobalUnicast "
        "cidr isCIDR prefixLength masked containsIP containsCIDR"
    ),
    "collections": ("isSorted sum min max indexOf lastIndexOf sets distinct flatten slice sort reverse lists"),
    "texts": ("charAt indexOf lastIndexOf substring replace split join lowerAscii upperAscii trim format strings"),
    "regexes": "find findAll",
    "formats": "format validate",
}
"""By module, the words by which expressions name what is in it."""


def functions_named(texts: Iterable[str]) -> tuple[Function, ...]:
    """The functions of all modules that the expressions name something of."""
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    return _functions(tuple(module for module, names in MODULES.items() if not words.isdisjoint(names.split())))


@cache
def _functions(modules: tuple[str, ...]) -> tuple[Function, ...]:
    loaded = (import_module(f"renderer.cel.{module}") for module in modules)
    return tuple(function for module in loaded for function in module.FUNCTIONS)
