"""The address of the repository: nothing secret may stand in it."""

from __future__ import annotations

import re

from renderer.diagnostics import Diagnostic, NamedSource, Origin, make_diagnostic

_SECRET = re.compile(r"\w+://[^/@]*:[^/]*@")


_USER = re.compile(r"(?:https?|oci)://[^/?#]*@", re.IGNORECASE)


_TOKEN = re.compile(r"\w+://[^?]*\?.*(?:token|passw|secret|key|auth|sig)[^&=]*=", re.IGNORECASE)


_TAGGED = re.compile(r"oci://[^/]*/[^:@]*[:@](.+)")


_CREDENTIAL_PATTERNS = {"password": _SECRET, "user, which may be a token": _USER, "token": _TOKEN}


_CREDENTIALS = "leave it out: Argo CD and Flux keep credentials in Secrets of their own"


_ADDRESS = "write --repo-url https://host/path, ssh://git@host/path or oci://host/path"


def check_address(url: str) -> list[Diagnostic]:
    """Diagnostics of --repo-url; none for a URL that a cluster can read."""
    words: dict[str, str]
    if credential := next((what for what, secret in _CREDENTIAL_PATTERNS.items() if secret.match(url)), ""):
        words = {"value": "the URL", "what": f"holds a {credential}", "hint": _CREDENTIALS}
    elif match := _TAGGED.fullmatch(url):
        hint = f"write it as --revision {match[1]}"
        words = {"value": f"'{url}'", "what": "includes a version of the artifact", "hint": hint}
    elif not re.match(r"(?:https?|ssh|oci)://[^/]|[\w.-]+@[\w.-]+:[^/]", url) or re.search(r"\s", url):
        what = "is not an address of a repository that a cluster can reach"
        words = {"value": f"'{url}'", "what": what, "hint": _ADDRESS}
    else:
        return []
    return [make_diagnostic("E723", Origin(NamedSource("--repo-url")), **words)]
