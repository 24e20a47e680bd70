"""Secrets in the files of a repository: a token that stands there in plain text is known to whoever reads it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping

from renderer.check.finding import Body
from renderer.check.kind_rules import object_rules
from renderer.diagnostics import Finding
from renderer.kubernetes.json_values import map_at

_HINT = (
    "encrypt the Secret with SOPS or Sealed Secrets, or let the External Secrets Operator make it; replace the token, "
    "which git keeps"
)
_FEWEST = 8  # different characters of a token that is none for show, such as hf_xxxxxxxxxxxxxxxxxxxx


@object_rules.about("output/core/secret_v1")
def validate_secret(body: Body) -> Iterator[Finding]:
    """A warning for each key of a Secret with a token of a known service, or a private key, in plain text. What a
    cluster has printed is in no repository.
    """
    if map_at(body, "metadata").get("uid"):
        return
    for field, values in (("stringData", map_at(body, "stringData")), ("data", _decoded(map_at(body, "data")))):
        for key, value in values.items():
            if _is_token(value):
                yield Finding("W300", (field, key), {"name": key, "what": f"the key '{key}'", "hint": _HINT})


def _is_token(value: object) -> bool:
    if not isinstance(value, str) or len(set(value)) < _FEWEST:
        return False
    from renderer.secrets.detection import has_secret_shape  # few runs need it

    return has_secret_shape(value)


def _decoded(data: Body) -> Mapping[str, str]:
    """The values of `data` as they are used; '' for what is no text."""
    texts = {}
    for key, value in data.items():
        try:
            texts[key] = base64.b64decode(str(value)).decode()
        except (binascii.Error, UnicodeDecodeError, ValueError):
            texts[key] = ""
    return texts
