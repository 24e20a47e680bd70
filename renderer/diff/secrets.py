"""Secrets that stand in a manifest: they are found, and shown to nobody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

HIDDEN = "<hidden>"
ANOTHER = "<hidden, another one>"
_NAME = re.compile(
    r"(?:^|[_.-])(?:\w*KEYS?|TOKENS?|SECRETS?|PASS|PASSWORD|PASSWD|PAT|CREDENTIALS?)(?:[_.-]?\d+)?$", re.IGNORECASE
)
_WORD = re.compile(r"[_.-]")
# With these words TOKEN and TOKENS, or TOKENS alone, are those of a text.
_TOKEN = {"MAX", "MIN", "NUM", "SPECIAL", "STOP", "IMAGE", "AUDIO", "PAD", "EOS", "BOS", "UNK", "SEP", "CLS", "MASK"}
_TOKENS = _TOKEN | {"NEW", "TOTAL", "BATCHED", "INPUT", "OUTPUT", "PREFILL", "DECODE", "DRAFT", "SPECULATIVE"}
_OPTION = re.compile(
    r"--?(?:(?:[\w-]*[_-])?(?:api[_-]?keys?|secret[_-]?(?:access[_-]?)?keys?|access[_-]?keys?|tokens?|secrets?)"
    r"|(?:[\w-]*[_-])?passw(?:or)?d(?![\w-]*[_-](?:file|path|dir|env))[\w-]*)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"\$\([A-Za-z_][\w.-]*\)")
_USERINFO = re.compile(r"(?<=://)[^\s/?#\"'<>]+(?=@)")


def literal(name: object, value: object) -> bool:
    """Whether the value of an environment variable is a secret in plain text, as its name says."""
    if not isinstance(name, str) or not isinstance(value, str) or not _NAME.search(name[-256:]):  # it is quadratic
        return False
    of_file = "CREDENTIAL" in name.upper() and value.startswith("/")  # GOOGLE_APPLICATION_CREDENTIALS is a path
    return _plain(value) and not of_file and not _of_text(name, value)


def _of_text(name: str, value: str) -> bool:
    """Whether the tokens of a name are those of a text: a count of them, or one with a meaning of its own."""
    *words, last = _WORD.split(name.upper())
    if last == "TOKENS":
        return value.isdigit() or not _TOKENS.isdisjoint(words)
    return last == "TOKEN" and not _TOKEN.isdisjoint(words)


def _plain(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not _REFERENCE.fullmatch(value)


def userinfos(text: object) -> list[str]:
    """The users and passwords of the URLs in a text, of which something stands there in plain text."""
    if not isinstance(text, str) or "://" not in text:
        return []
    return [each for each in _USERINFO.findall(text) if _opens(each)]


def _opens(userinfo: str) -> bool:
    """Whether the password, or a user who needs none, is no reference."""
    user, colon, password = userinfo.partition(":")
    given = password if colon else user
    return bool(_REFERENCE.sub("", given)) and userinfo != "git"


def hidden_in(args: Sequence[Any], other: Sequence[Any] | None = None) -> list[Any]:
    """A command line, with secrets in it hidden. `other`: that of the other side."""
    made = list(args)
    was: dict[str, list[str]] = {}
    for _, option, value in secrets_in(other or ()):
        was.setdefault(option, []).append(value)
    for place, option, value in secrets_in(args):
        known = was.get(option)
        shown = ANOTHER if known and known.pop(0) != value else HIDDEN
        made[place] = shown if made[place] == value else f"{option}={shown}"
    return made


def secrets_in(args: Sequence[Any]) -> Iterator[tuple[int, str, str]]:
    """Where a secret stands in a command line, behind which option, and the secret. An option may take several."""
    behind = ""
    for i, arg in enumerate(args):
        if not isinstance(arg, str):
            behind = ""
        elif arg.startswith("-"):
            option, equals, value = arg.partition("=")
            behind = option if len(option) > 256 or _OPTION.fullmatch(option) else ""  # it is quadratic
            if behind and equals and _plain(value) and not _of_text(option, value):
                yield i, option, value
        elif behind and _plain(arg) and not _of_text(behind, arg):
            yield i, behind, arg


def veiled(value: Any, other: Any = None) -> Any:
    """A body with its secrets hidden. `other`: the body of the other side; a secret that is not the one there is said
    to be another, so that the change still shows.
    """
    if isinstance(value, str):
        return _anonymous(value, [other])
    if isinstance(value, dict):
        if literal(value.get("name"), value.get("value")):
            was = other.get("value") if isinstance(other, dict) else None
            return {**value, "value": HIDDEN if was is None or was == value["value"] else ANOTHER}
        if value.get("kind") == "Secret":
            return _without_data(value, other)
        return {key: veiled(each, other.get(key) if isinstance(other, dict) else None) for key, each in value.items()}
    if isinstance(value, list):
        others = other if isinstance(other, list) else []
        return [
            _anonymous(each, others) if isinstance(each, str) else veiled(each, _twin(each, i, other))
            for i, each in enumerate(hidden_in(value, others))
        ]
    return value


def _anonymous(text: str, others: Iterable[Any]) -> str:
    """The text, without the users and passwords of URLs. `others`: the texts of the other side."""
    if not (mine := userinfos(text)):
        return text
    known = {each for one in others for each in userinfos(one)}
    for each in dict.fromkeys(mine):
        text = text.replace(f"://{each}@", f"://{ANOTHER if known and each not in known else HIDDEN}@")
    return text


def _without_data(body: dict[str, Any], other: Any) -> dict[str, Any]:
    """A Secret: its keys only."""
    made = dict(body)
    for field in ("data", "stringData"):
        if isinstance(body.get(field), dict):
            was = other.get(field) if isinstance(other, dict) else None
            was = was if isinstance(was, dict) else {}
            made[field] = {
                key: HIDDEN if key not in was or was[key] == each else ANOTHER for key, each in body[field].items()
            }
    return made


def _twin(each: Any, place: int, other: Any) -> Any:
    """The item of the other list that goes by the same name, else the one at the same place."""
    if not isinstance(other, list):
        return None
    if isinstance(each, dict) and "name" in each:
        return next((one for one in other if isinstance(one, dict) and one.get("name") == each["name"]), None)
    return other[place] if place < len(other) else None
