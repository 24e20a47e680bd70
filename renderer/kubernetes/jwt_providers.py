"""Rules of Envoy Gateway for JWT providers, beyond their schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from renderer.diagnostics import Path

# Both as text: few runs need them, and re keeps what it has compiled.
_QUALIFIED = r"(?a)([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?"
_URI = r"/|[A-Za-z][-+.A-Za-z0-9]*:(?!//[^/?#]*\s)"  # or a path, as Go reads one of a request


def provider_faults(providers: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Path, str, str]]:
    """Why Envoy Gateway refuses a policy with these providers: the path in them, the reason, and a hint."""
    known = set()
    for i, provider in enumerate(providers):
        name, issuer = provider["name"], provider.get("issuer") or ""
        keys = (provider.get("remoteJWKS") or {}).get("uri")
        if name in known:
            yield (i, "name"), f"two providers are called '{name}'", "give one of them another name"
        elif not re.fullmatch(_QUALIFIED, name):
            hint = "write letters, digits, '-', '_' and '.', at most 63"
            yield (i, "name"), f"'{name}' is not a valid provider name", hint
        if ":" in issuer and not _is_requestable(issuer):
            yield (i, "issuer"), f"'{issuer}' contains ':' and is not a URI", "write it exactly as in the tokens"
        if keys is not None and not _is_requestable(keys):
            hint = "write a URI, such as https://idp.example.com/keys"
            yield (i, "remoteJWKS", "uri"), f"'{keys}' is not a URI", hint
        known.add(name)


def _is_requestable(uri: str) -> bool:
    return re.match(_URI, uri) is not None and uri.isprintable()
