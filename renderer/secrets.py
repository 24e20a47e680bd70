"""Secrets that stand in a manifest: they are found, and shown to nobody.

What an environment variable holds is shown where its name is known to be harmless, or the value can be no secret: a
number, a common word, a path. Elsewhere a value is hidden that stands under a name of a secret (a key of a map, an
option, a parameter of a URL, a header, an assignment in a text), or looks like one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from renderer.paths import PRESETS

HIDDEN = "<hidden>"
ANOTHER = "<hidden, another one>"


@lru_cache(maxsize=1)
def harmless_variables() -> frozenset[str]:
    """Variables that presets set, or list as those of an engine, none of which is named like a secret."""
    with open(os.path.join(PRESETS, "variables.txt"), encoding="utf-8") as file:
        return frozenset(line.strip() for line in file if line[0] != "#")


# --- Names

_LONGEST_NAME = 200  # of a longer one only the end is read
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_SECRETS = {"PAT", "PSK", "CREDS", "AUTHORIZATION", "BEARER", "COOKIE", "COOKIES", "JWT", "SAS"}
_ENDINGS = re.compile(r"(?:PASSWORDS?|PASSWD|PASSPHRASE|PASSCODE|SECRETS?|CREDENTIALS?|TOKENS?|PASS|PWD)$")
_NO_ENDINGS = {"BYPASS", "COMPASS", "TRESPASS"}
_KEY = re.compile(r"KEYS?$")
_KEY_OF_A_LOCK = re.compile(r"(?:API|ACCESS|SECRET|PRIVATE|AUTH|SIGNING|ENCRYPTION|MASTER|SHARED)KEYS?$")
_LOCKS = {"API", "ACCESS", "SECRET", "PRIVATE", "AUTH", "SIGNING", "ENCRYPTION", "DECRYPTION", "MASTER", "SHARED"}
_LOCKS |= {"ACCOUNT", "CLIENT", "DEPLOY", "LICENSE", "SERVICE", "SSH", "STORAGE", "SUBSCRIPTION", "WEBHOOK"}
# With one of these behind it, a name tells something about a secret, and not the secret.
_ABOUT = {"FILE", "FILES", "PATH", "DIR", "FOLDER", "NAME", "NAMES", "NAMESPACE", "ID", "IDS", "URL", "URI", "ENDPOINT"}
_ABOUT |= {"REF", "REFS", "ENV", "TYPE", "KIND", "TTL", "EXPIRY", "EXPIRATION", "LENGTH", "LEN", "LIMIT", "COUNT"}
_ABOUT |= {"SIZE", "INTERVAL", "TIMEOUT", "SECONDS", "PER", "ENABLED", "REQUIRED", "PROVIDER", "HEADER", "HEADERS"}
_ABOUT |= {"PREFIX", "SUFFIX", "FIELD", "FORMAT", "ALGORITHM", "VERSION", "MAP", "MODE", "BUDGET", "INDEX", "ONLY"}
_ABOUT |= {"BUCKETS", "DETAILS", "DISTRIBUTION", "HISTOGRAM", "LATENCY", "METRICS", "RATIO", "THRESHOLD", "USAGE"}
# With these words TOKEN and TOKENS, or TOKENS alone, are those of a text.
_TOKEN = {"MAX", "MIN", "NUM", "SPECIAL", "STOP", "IMAGE", "AUDIO", "PAD", "EOS", "BOS", "UNK", "SEP", "CLS", "MASK"}
_TOKEN |= {"FIRST", "NEXT"}
_TOKENS = _TOKEN | {"NEW", "TOTAL", "BATCHED", "INPUT", "OUTPUT", "PREFILL", "DECODE", "DRAFT", "SPECULATIVE", "SPEC"}
_TOKENS |= {"EVERY", "GRAPH", "GUIDE"}


@lru_cache(4096)
def _names_secret(name: str) -> str:
    """The word by which a name says that it is one of a secret, as TOKEN; '' where none does."""
    words = _words(name)
    if name in ("PWD", "OLDPWD") or "EXISTING" in words:  # the working directory; the name of a Secret
        return ""
    for i in reversed(range(len(words))):
        word, before = words[i], words[i - 1] if i else ""
        if word in _ABOUT:
            return ""
        ending = _ENDINGS.search(word)
        if ending and ending[0] in ("TOKEN", "TOKENS"):
            of_text = _TOKENS if ending[0] == "TOKENS" else _TOKEN
            if not of_text.isdisjoint([*words, word.removesuffix(ending[0])]):
                return ""
        if word in _SECRETS or (ending and word not in _NO_ENDINGS) or _KEY_OF_A_LOCK.search(word):
            return ending[0] if ending else word
        if word in ("KEY", "KEYS"):
            if before in _LOCKS:
                return word
            if _ENDINGS.search(before):  # under which key of a Secret a password stands
                return ""
    return ""


def _words(name: str) -> list[str]:
    """What a name is made of, in capitals: of `clientSecret` CLIENT and SECRET."""
    return [word.upper() for word in _WORD.findall(name[-_LONGEST_NAME:])]


def _names_key(name: str) -> bool:
    """Whether the last word of a name, numbers aside, is a key of whatever kind."""
    words = [word for word in _words(name) if not word.isdigit()]
    return bool(words) and bool(_KEY.search(words[-1]))


# --- Values

_VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_REFERENCE = re.compile(r"\$\([A-Za-z_][\w.-]*\)")
_UNIT = r"(?:%|m|[kKMGTPE]i?|[KMG]i?B|B|[munµ]?s|min|h|d)?"
_NUMBER = re.compile(rf"[+-]?\d{{1,15}}(?:\.\d{{1,15}})?(?:[eE][+-]?\d{{1,3}})?{_UNIT}")
_PATH = re.compile(r"/?(?:/(?>[a-z._-]{33,80}|[A-Za-z0-9._@+-]{1,32})){1,16}/?")  # tried one way only: linear
_SWITCHES = {"true", "false", "yes", "no", "on", "off", "none", "null", "enabled", "disabled", "required", "optional"}
_COMMON = _SWITCHES | {"auto", "default", "always", "never", "all", "any", "trace", "debug", "info", "notice", "warn"}
_COMMON |= {"warning", "error", "critical", "fatal", "cpu", "gpu", "cuda", "rocm", "xpu", "float16", "bfloat16"}
_COMMON |= {"fp16", "bf16", "fp8", "int8", "int4", "json", "text", "plain", "http", "https", "grpc", "tcp", "udp"}
_COMMON |= {"spawn", "fork", "forkserver", "utc", "leader", "worker", "production", "staging", "development", "test"}


def literal(name: object, value: object) -> bool:
    """Whether the value of an environment variable is a secret in plain text, as its name says."""
    if not isinstance(name, str) or not isinstance(value, str) or not _plain(value):
        return False
    word = _names_secret(name) or ("KEY" if _names_key(name) else "")
    return _opened_by(word, name, value)


def _harmless(name: str, value: str) -> bool:
    return not literal(name, value)


def _opened_by(word: str, name: str, value: str) -> bool:
    """Whether the value is a secret, where a name holds the word of one."""
    if not word or value.lower() in _SWITCHES or (word == "TOKENS" and value.isdigit()):
        return False
    return not (word.startswith("CREDENTIAL") and value.startswith("/"))  # GOOGLE_APPLICATION_CREDENTIALS is a path


def _plain(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not _REFERENCE.fullmatch(value)


def _shown(name: object, value: str) -> bool:
    """Whether the value of an environment variable may be seen."""
    if literal(name, value):
        return False
    if name in harmless_variables() or value.lower() in _COMMON or not _REFERENCE.sub("", value).strip(".:/,-_ "):
        return True
    return all(map(_NUMBER.fullmatch, value.split(","))) or all(map(_PATH.fullmatch, value.split(":")))


# --- Texts

_SHORT = 1_000  # characters of a text that comes again
_LONGEST = 1024 * 1024  # characters of a text that is looked through
_HINT = re.compile(
    r"value|pass|pwd|secret|token|key|cred|auth|bearer|cookie|jwt|\bpat\b|psk|sas|://[^/\s]*@|[?&][\w.-]+="
    r"|sk-|hf_|gh[pousr]_|glpat|xox|AKIA|ASIA|AIza|eyJ|[A-Za-z0-9]{24}",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"(?<=://)[^\s/?#\"'<>]+(?=@)")
_PARAMETER = re.compile(r"(?<=[?&])([\w.%-]{1,80})=([^\s&?#\"'<>]+)")
_PARAMETERS = {"key", "sig", "signature", "code", "auth", "x-amz-signature", "x-amz-credential"}
_HEADER = re.compile(r"\b((?:proxy-)?authorization|(?:set-)?cookie)\b\\?[\"']?\s*[:=]\s*\\?[\"']?([^\"'\\\r\n]+)", re.I)
_BEARER = re.compile(r"\bbearer\s+([\w.~+/=-]*\d[\w.~+/=-]*)", re.IGNORECASE)
_DEFAULT = re.compile(r"\$\{([A-Za-z_]\w{0,80}):?[-=]([^}\n]{1,200})\}")
_ASSIGNED = re.compile(r"(?<![\w.-])(?<!\$\{)([A-Za-z_][\w.-]{0,80})\\?[\"']?\s*([:=])[ \t]*(\\?[\"']?)")
_OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]{0,80})(?:[ \t]+|[\"']?[ \t]*,[ \t]*)([\"']?)(?!-)")
_PAIR = re.compile(r"\bname[\"']?:\s*[\"']?([\w.-]{1,80})[\"']?\s*,\s*[\"']?value[\"']?:[ \t]*([\"']?)")
_BLOCK = re.compile(r"[|>][-+]?[ \t]*\n")
_QUOTED = {'"': re.compile(r'[^"\n]+'), "'": re.compile(r"[^'\n]+")}
_UNQUOTED = {
    "=": re.compile(r"\$\([^()\n]*\)|[^\s,;&|)\"'<>]+"),
    ":": re.compile(r"[^\n,}\]\"']+"),
    " ": re.compile(r"[^\s,\]\"']+"),
}
_VARIABLE = re.compile(r"(?:[A-Za-z]+\s+)?\$(?:[A-Z_][A-Z0-9_]*|\{[A-Za-z_]\w*\}|\([^()]*\))")
_SHAPES = re.compile(
    r"(?<![\w-])(?:sk-[\w-]{16,}|hf_\w{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|nvapi-[\w-]{20,}"
    r"|npm_\w{30,}|xox[abprs]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}[\w.-]*)"
)
_RANDOM = re.compile(r"(?<![\w+=])[A-Za-z0-9+]{24,}={0,2}(?![\w+])")
_PRIVATE = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*")


def _secrets(text: str) -> Sequence[tuple[int, int]]:
    """Where in a text something stands that looks like a secret: begin and end of each, in order, apart. All of one
    that no cluster would take is one.
    """
    if len(text) > _LONGEST:
        return [(0, len(text))]
    return _sought(text) if len(text) <= _SHORT else _sought.__wrapped__(text)


@lru_cache(4096)
def _sought(text: str) -> Sequence[tuple[int, int]]:
    if not _HINT.search(text):
        return ()
    found = sorted(span for span in _spans(text) if span[0] < span[1])
    spans: list[tuple[int, int]] = []
    for begin, end in found:
        if spans and begin <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((begin, end))
    return spans


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for match in _USERINFO.finditer(text):
        if _opens(match[0]):
            yield match.span()
    for match in _PARAMETER.finditer(text):
        if match[1].lower() in _PARAMETERS or _opened_by(_names_secret(match[1]), match[1], match[2]):
            yield match.span(2)
    for match in _DEFAULT.finditer(text):
        if _opened_by(_names_secret(match[1]), match[1], match[2]):
            yield match.span(2)
    for match in _HEADER.finditer(text):
        if not _VARIABLE.fullmatch(match[2].strip()):
            yield match.start(2), match.start(2) + len(match[2].rstrip())
    yield from _assigned(text)
    for match in _OPTION.finditer(text):
        if word := _names_secret(match[1]):
            yield from _value(text, match.end(), match[2], " ", word, match[1])
    for match in _PAIR.finditer(text):
        found = (_QUOTED[match[2]] if match[2] else _UNQUOTED[":"]).match(text, match.end())
        value = found[0].strip() if found else ""
        if found and not (_shown if _VARIABLE_NAME.fullmatch(match[1]) else _harmless)(match[1], value):
            yield found.span()
    for pattern in (_SHAPES, _PRIVATE):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span(1) for match in _BEARER.finditer(text))
    for match in _RANDOM.finditer(text):
        if all(re.search(kind, match[0]) for kind in ("[a-z]", "[A-Z]", "[0-9]")):
            yield match.span()


def _assigned(text: str) -> Iterator[tuple[int, int]]:
    """Values behind names and `=` or `:`, as in scripts, JSON and YAML. Within one nobody looks for another."""
    until = 0
    for match in _ASSIGNED.finditer(text):
        name, separator, quote = match.groups()
        word = _names_secret(name) or ("AUTH" if name.lower() == "auth" else "") if match.start() >= until else ""
        if word and (block := _BLOCK.match(text, match.end())):
            until = _end_of_block(text, match.start(), block.end())
            yield block.end(), until
        elif word:
            for begin, until in _value(text, match.end(), quote[-1:], separator, word, name):
                yield begin, until


def _value(text: str, at: int, quote: str, separator: str, word: str, name: str) -> Iterator[tuple[int, int]]:
    """Where the value stands that begins there, if it is a secret."""
    found = (_QUOTED[quote] if quote else _UNQUOTED[separator]).match(text, at)
    value = found[0].strip().rstrip("\\") if found else ""
    if found and value and not _VARIABLE.fullmatch(value) and _opened_by(word, name, value):
        yield found.start(), found.start() + len(found[0].rstrip().rstrip("\\"))


def _end_of_block(text: str, key: int, begin: int) -> int:
    """Where a block of YAML ends, whose key stands there: before the first line that is not further in."""
    margin = key - (text.rfind("\n", 0, key) + 1)
    at = begin
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        line = text[at:end]
        if line.strip() and len(line) - len(line.lstrip(" ")) <= margin:
            break
        at = end
    return at - (text[at - 1] == "\n")


def _opens(userinfo: str) -> bool:
    """Whether the password, or a user who needs none, is no reference."""
    user, colon, password = userinfo.partition(":")
    given = password if colon else user
    return bool(_REFERENCE.sub("", given)) and userinfo != "git"


def url_secrets(text: object) -> list[str]:
    """Users and passwords of the URLs in a text, and parameters such as `?token=`, where they stand in plain text."""
    if not isinstance(text, str) or "://" not in text:
        return []
    userinfos = [userinfo for userinfo in _USERINFO.findall(text) if _opens(userinfo)]
    return userinfos + [
        value
        for name, value in _PARAMETER.findall(text)
        if name.lower() in _PARAMETERS or _opened_by(_names_secret(name), name, value)
    ]


def hidden_in_text(text: str, others: Iterable[Any] = ()) -> str:
    """The text without its secrets. `others`: the texts of the other side."""
    if not (spans := _secrets(text)):
        return text
    known = {one[begin:end] for one in others if isinstance(one, str) for begin, end in _secrets(one)}
    parts, last = [], 0
    for begin, end in spans:
        parts += [text[last:begin], ANOTHER if known and text[begin:end] not in known else HIDDEN]
        last = end
    return "".join(parts) + text[last:]


_LINE = re.compile(r"(\s*(?:- )?value:\s*)(\S.*)")


def hidden_in_line(line: str, name: str = "") -> str:
    """A line of a YAML file without its secrets. `name`: of the variable whose value may stand there."""
    value = _LINE.fullmatch(line) if name else None
    if value and not _shown(name, value[2].strip("\"'")):
        return value[1] + HIDDEN
    return hidden_in_text(line)


# --- Command lines

_SET = re.compile(r"([A-Z][A-Z0-9_]{0,80})=(.+)", re.DOTALL)


def secrets_in(args: Sequence[Any]) -> Iterator[tuple[int, str, str]]:
    """Where a secret stands in a command line, behind which option, and the secret. An option may take several."""
    behind = ""
    for i, arg in enumerate(args):
        option, equals, value = arg.partition("=") if isinstance(arg, str) else ("", "", "")
        if not isinstance(arg, str):
            behind = ""
        elif arg.startswith("-") and not any(map(str.isspace, option)):
            behind = option if _names_secret(option) else ""
            if behind and equals and _plain(value) and _opened_by(_names_secret(option), option, value):
                yield i, option, value
        elif behind and _plain(arg) and _opened_by(_names_secret(behind), behind, arg):
            yield i, behind, arg
        elif (variable := _SET.fullmatch(arg)) and literal(variable[1], variable[2]):
            yield i, variable[1], variable[2]


def hidden_in(args: Sequence[Any], other: Sequence[Any] | None = None) -> list[Any]:
    """A command line, with secrets in it hidden. `other`: that of the other side."""
    made = list(args)
    was: dict[str, list[str]] = {}
    for _, option, value in _hidden(other or ()):
        was.setdefault(option, []).append(value)
    for place, option, value in _hidden(args):
        known = was.get(option)
        shown = ANOTHER if known and known.pop(0) != value else HIDDEN
        made[place] = shown if made[place] == value else f"{option}={shown}"
    return made


def _hidden(args: Sequence[Any]) -> Iterator[tuple[int, str, str]]:
    """What is hidden of a command line: secrets, and variables that are set there and may be one."""
    yield from secrets_in(args)
    known = {place for place, _, _ in secrets_in(args)}
    for i, arg in enumerate(args):
        variable = _SET.fullmatch(arg) if isinstance(arg, str) and i not in known else None
        if variable and not _shown(variable[1], variable[2]):
            yield i, variable[1], variable[2]


# --- Bodies

_ENVIRONMENT = re.compile(r"(?:extra)?env(?:s|vars?|ironment)?(\[\])?", re.IGNORECASE)
_OPAQUE = {("Secret", "data"), ("Secret", "stringData"), ("ConfigMap", "binaryData")}
_DATA = "data of a ConfigMap"


def veiled(value: Any, other: Any = None, within: str = "") -> Any:
    """A body with its secrets hidden. `other`: the body of the other side; a secret that is not the one there is said
    to be another, so that the change still shows. `within`: the key that holds it, with `[]` for an item of a list.
    """
    if isinstance(value, str):
        return hidden_in_text(value, [other])
    if isinstance(value, dict):
        return _veiled_map(value, other if isinstance(other, dict) else {}, within)
    if isinstance(value, list):
        others = other if isinstance(other, list) else []
        return [
            hidden_in_text(item, others)
            if isinstance(item, str)
            else veiled(item, _twin(item, i, other), f"{within}[]")
            for i, item in enumerate(hidden_in(value, others))
        ]
    return value


def _veiled_map(body: dict[Any, Any], other: dict[Any, Any], within: str) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, value in body.items():
        was, kind = other.get(key), str(body.get("kind"))
        if _kept_back(key, value, body, within):
            made[key] = _mark(value, was)
        elif (kind, key) in _OPAQUE and isinstance(value, dict):
            was = was if isinstance(was, dict) else {}
            made[key] = {name: _mark(held, was.get(name)) for name, held in value.items()}
        elif isinstance(value, list) and _names_secret(_subject(key, body)):
            known = was if isinstance(was, list) else []
            made[key] = [
                _mark(item, item if not known or item in known else "") if _is_one(item) else veiled(item)
                for item in value
            ]
        else:
            made[key] = veiled(value, was, _DATA if (kind, key) == ("ConfigMap", "data") else str(key))
    return made


def _mark(value: Any, was: Any) -> str:
    """What is said in the place of a secret."""
    return HIDDEN if was is None or was == value else ANOTHER


def _is_one(value: Any) -> bool:
    """Whether it is a single value that may be a secret."""
    return isinstance(value, str) or value.__class__ in (int, float)


def _subject(key: Any, body: dict[Any, Any]) -> str:
    """By what name a field of a map goes: of a name and its value the name."""
    name = body.get("name")
    return name if key in ("value", "values") and isinstance(name, str) else str(key)


def _kept_back(key: Any, value: Any, body: dict[Any, Any], within: str) -> bool:
    """Whether all of the value is hidden, since it goes by a name of a secret, or by none that is known."""
    if not _is_one(value):
        return False
    subject, text = _subject(key, body), str(value)
    pair, environment = subject != str(key), _ENVIRONMENT.fullmatch(within)
    if environment and (pair if environment[1] else not environment[1]):
        return not _shown(subject, text)
    if pair:
        return literal(subject, text)
    if within == _DATA and _VARIABLE_NAME.fullmatch(subject) and "\n" not in text:
        return not _shown(subject, text)
    word = _names_secret(subject) or ("AUTH" if subject.lower() == "auth" else "")
    return _plain(text) and _opened_by(word, subject, text)


def _twin(item: Any, place: int, other: Any) -> Any:
    """The item of the other list that goes by the same name, else the one at the same place."""
    if not isinstance(other, list):
        return None
    if isinstance(item, dict) and "name" in item:
        return next((one for one in other if isinstance(one, dict) and one.get("name") == item["name"]), None)
    return other[place] if place < len(other) else None
