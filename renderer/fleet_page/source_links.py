"""Addresses of input files, as `--source-url` says them."""

from __future__ import annotations

import os
import re
from urllib.parse import quote, urlsplit

from renderer.diagnostics import Diagnostic, NamedSource, Origin, make_diagnostic

_FORM = "https://host/path/{file}#L{line}"
_BRACES = re.compile(r"\{[^{}]*\}|[{}]")


def check_source_url(url: str) -> list[Diagnostic]:
    """A diagnostic of a value of --source-url that is no address of files; none for one that is."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:  # as of brackets without an IPv6 address
        return [_refused(f"'{url}' is no address")]
    if parts.scheme not in ("http", "https"):
        return [_refused(f"'{url}' does not begin with https:// or http://")]
    if not host or "{" in parts.netloc:
        return [_refused(f"'{url}' names no host")]
    if "@" in parts.netloc:
        return [_refused("the address holds a user, which whoever opens the page would read")]
    if any(not "!" <= char <= "~" for char in url):
        return [_refused(f"'{url}' has a character that addresses do not have")]
    if unknown := [text for text in _BRACES.findall(url) if text not in ("{file}", "{line}")]:
        return [_refused(f"nothing is written in place of '{unknown[0]}'")]
    if "{file}" not in url:
        return [_refused(f"'{url}' has no {{file}}")]
    return []


def source_link(url: str, file: str, line: int) -> str:
    """The address of a line of an input file; '' without a URL, and for a file outside of the current folder."""
    path = file.replace(os.sep, "/")
    if not url or path.startswith(("/", "../")):
        return ""
    return url.replace("{line}", str(max(line, 1))).replace("{file}", quote(path))


def _refused(what: str) -> Diagnostic:
    return make_diagnostic("E706", Origin(NamedSource("--source-url")), what=what, form=_FORM)
