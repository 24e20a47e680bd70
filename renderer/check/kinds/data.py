"""ConfigMaps and Secrets: how much an API server takes of one."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from renderer.check.finding import Body
from renderer.check.kind_rules import object_rules
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import map_at

MAX_DATA: Final = 1_048_576
"""Bytes of all values (MaxSecretSize in staging/src/k8s.io/api/core/v1/types.go of Kubernetes)."""
_FIELDS = {"ConfigMap": ("data", "binaryData"), "Secret": ("stringData", "data")}  # of texts, and of bytes in Base64


@object_rules.about("output/core/configmap_v1", "output/core/secret_v1")
def validate_data(body: Body) -> Iterator[Finding]:
    """An error, at its largest value, for an object whose values are too large together."""
    kind = str(body["kind"])
    sizes: dict[Path, int] = {}
    plain, encoded = _FIELDS[kind]
    sizes |= {(plain, key): len(str(value).encode()) for key, value in map_at(body, plain).items()}
    sizes |= {(encoded, key): _decoded_size(str(value)) for key, value in map_at(body, encoded).items()}
    if (size := sum(sizes.values())) > MAX_DATA:
        yield Finding("E838", max(sizes, key=lambda path: sizes[path]), {"kind": kind, "size": f"{size:,}"})


def _decoded_size(text: str) -> int:
    try:
        return len(base64.b64decode(text))
    except (binascii.Error, ValueError):
        return 0
