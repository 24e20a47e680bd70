"""Kubernetes' functions about URLs, as Go reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote

from msgspec import Struct

from renderer.cel.carriers import URL, Carrier, carry, content, go_quoted
from renderer.cel.compiler import Function

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*"
_HOST_CHARACTERS = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:\[\]<>\"%\x80-\U0010ffff-]*")
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_PATH_SAFE: Final = "/$&+,:;=@!'()*[]"


class Url(Struct, frozen=True):
    """The parts of a URL."""

    scheme: str
    host: str  # with the port
    path: str  # as it is written, escaped
    query: str


def _parts(text: str) -> Url:
    """The parts of an absolute URL, or of an absolute path. Raises ValueError, with Go's words."""
    if fault := parse_fault(text):
        raise ValueError(f"URL parse error during conversion from string: {fault}")
    return _split(text)


def parse_fault(text: str) -> str:
    """Why Go takes a text for no absolute URL, in its words; empty where it takes it for one."""
    fault = _fault(text)
    return f"parse {go_quoted(text)}: {fault}" if fault else ""


def _split(text: str) -> Url:
    rest = text.partition("#")[0]
    scheme = re.match(rf"({_SCHEME}):", rest)
    rest = rest[scheme.end() :] if scheme else rest
    rest, _, query = rest.partition("?")
    host = ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        host, rest = unquote(authority.rpartition("@")[2]), slash + path
    return Url(scheme[1].lower() if scheme else "", host, "" if not rest.startswith("/") else rest, query)


def _fault(text: str) -> str:
    """The reason of `parse_fault`."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        return "net/url: invalid control character in URL"
    if not text:
        return "empty url"
    if text == "*":
        return ""
    if text.startswith(":"):
        return "missing protocol scheme"
    scheme = re.match(rf"({_SCHEME}):", text)
    if not scheme:
        first = re.match(r"[^/?]*", text)
        if first and ":" in first[0] and re.match(r"[A-Za-z0-9+.-]*:", text):
            return "missing protocol scheme"
        return _path_fault(text) if text.startswith("/") else "invalid URI for request"
    rest = text[scheme.end() :].partition("?")[0]
    if not rest.startswith("/"):
        return ""
    if not rest.startswith("//"):
        return _path_fault(rest)
    authority, slash, path = rest[2:].partition("/")
    return _host_fault(authority.rpartition("@")[2]) or _path_fault(slash + path)


def _path_fault(path: str) -> str:
    escape = _ESCAPE.search(path.partition("?")[0])
    return f"invalid URL escape {go_quoted(escape[0])}" if escape else ""


def _host_fault(host: str) -> str:
    if host.startswith("["):
        if "]" not in host:
            return "missing ']' in host"
        port = host.rpartition("]")[2]
    else:
        port = f":{host.rpartition(':')[2]}" if ":" in host else ""
    if port and not re.fullmatch(r":[0-9]*", port):
        return f"invalid port {go_quoted(port)} after host"
    for character in host:
        if not _HOST_CHARACTERS.fullmatch(character):
            return f"invalid character {go_quoted(character)} in host name"
    return ""


def _url(text: str) -> Carrier:
    _parts(text)
    return carry(URL, text)


def _is_url(text: str) -> bool:
    return not _fault(text)


def _of(value: object) -> Url:
    return _split(content(value, URL))


def _hostname(value: object) -> str:
    host = _of(value).host
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _port(value: object) -> str:
    host = _of(value).host
    return host.rpartition("]")[2].rpartition(":")[2] if ":" in host.rpartition("]")[2] else ""


def _escaped_path(value: object) -> str:
    path = _of(value).path
    return path if re.fullmatch(r"[A-Za-z0-9._~%/$&+,:;=@!'()*\[\]-]*", path) else quote(unquote(path), _PATH_SAFE)


def _query(value: object) -> Mapping[str, list[str]]:
    """The values of each key; parts that cannot be read are left out, as Go does it."""
    values: dict[str, list[str]] = {}
    for part in _of(value).query.split("&"):
        if not part or ";" in part or _ESCAPE.search(part):
            continue
        key, _, text = part.partition("=")
        values.setdefault(unquote(key.replace("+", " ")), []).append(unquote(text.replace("+", " ")))
    return values


FUNCTIONS: Final = (
    Function("url", False, (("string", "URL"),), _url),
    Function("isURL", False, (("string", "bool"),), _is_url),
    Function("getScheme", True, (("URL", "string"),), lambda value: _of(value).scheme),
    Function("getHost", True, (("URL", "string"),), lambda value: _of(value).host),
    Function("getHostname", True, (("URL", "string"),), _hostname),
    Function("getPort", True, (("URL", "string"),), _port),
    Function("getEscapedPath", True, (("URL", "string"),), _escaped_path),
    Function("getQuery", True, (("URL", "map<string, list<string>>"),), _query),
)
