"""The presets that are tables of facts, such as what options mean; each is read when it is first asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from renderer import yamlio
from renderer.source.paths import PRESETS


@cache
def preset_table(name: str) -> Mapping[str, Any]:
    """The spec of presets/NAME.yaml."""
    with open(os.path.join(PRESETS, f"{name}.yaml"), "rb") as file:
        documents, _ = yamlio.parse(f"presets/{name}.yaml", file.read())
    spec: Mapping[str, Any] = documents[0].value["spec"]
    return spec
