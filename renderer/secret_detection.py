"""Detects secrets in manifests, and hides them.

The value of an environment variable is shown where its name is known to be harmless, or the value cannot be a secret:
a number, a common word, a path. Other values are hidden that have the name of a secret (a key of a map, an option, a
parameter of a URL, a header, an assignment in a text), or look like one.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
from functools import lru_cache
from typing import Any

from renderer.source.paths import PRESETS

HIDDEN = "<hidden>"
ANOTHER = "<hidden, another one>"


@lru_cache(maxsize=1)
def harmless_variables() -> frozenset[str]:
    """Environment variables that presets set or engines read, except secrets by name."""
    with open(os.path.join(PRESETS, "variables.txt"), encoding="utf-8") as file:
        return frozenset(line.strip() for line in file if line[0] != "#")


# --- Names

_LONGEST_NAME = 200  # of a longer one only the end is read
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_SECRETS = {"PAT", "PSK", "CREDS", "AUTHORIZATION", "BEARER", "COOKIE", "COOKIES", "JWT", "SAS"}
_ENDINGS = re.compile(r"(?:PASSWORDS?|PASSWD|PASSPHRASE|PASSCODE|SECRETS?|CREDENTIALS?|TOKENS?|PASS|PWD)$")
_NO_ENDINGS = {"BYPASS", "COMPASS", "TRESPASS"}
_KEY = re.compile(r"KEYS?$")
_SECRET_KEY = re.compile(r"(?:API|ACCESS|SECRET|PRIVATE|AUTH|SIGNING|ENCRYPTION|MASTER|SHARED)KEYS?$")
_KEY_WORDS = {"API", "ACCESS", "SECRET", "PRIVATE", "AUTH", "SIGNING", "ENCRYPTION", "DECRYPTION", "MASTER", "SHARED"}
_KEY_WORDS |= {"ACCOUNT", "CLIENT", "DEPLOY", "LICENSE", "SERVICE", "SSH", "STORAGE", "SUBSCRIPTION", "WEBHOOK"}
# Words behind that of a secret with which a name is a fact about the secret, as its file.
_FACTS = {"FILE", "FILES", "PATH", "DIR", "FOLDER", "NAME", "NAMES", "NAMESPACE", "ID", "IDS", "URL", "URI", "ENDPOINT"}
_FACTS |= {"REF", "REFS", "ENV", "TYPE", "KIND", "TTL", "EXPIRY", "EXPIRATION", "LENGTH", "LEN", "LIMIT", "COUNT"}
_FACTS |= {"SIZE", "INTERVAL", "TIMEOUT", "SECONDS", "PER", "ENABLED", "REQUIRED", "PROVIDER", "HEADER", "HEADERS"}
_FACTS |= {"PREFIX", "SUFFIX", "FIELD", "FORMAT", "ALGORITHM", "VERSION", "MAP", "MODE", "BUDGET", "INDEX", "ONLY"}
_FACTS |= {"BUCKETS", "DETAILS", "DISTRIBUTION", "HISTOGRAM", "LATENCY", "METRICS", "RATIO", "THRESHOLD", "USAGE"}
# Words with which TOKEN and TOKENS, or TOKENS alone, are tokens of a text.
_TOKEN = {"MAX", "MIN", "NUM", "SPECIAL", "STOP", "IMAGE", "AUDIO", "PAD", "EOS", "BOS", "UNK", "SEP", "CLS", "MASK"}
_TOKEN |= {"FIRST", "NEXT"}
_TOKENS = _TOKEN | {"NEW", "TOTAL", "BATCHED", "INPUT", "OUTPUT", "PREFILL", "DECODE", "DRAFT", "SPECULATIVE", "SPEC"}
_TOKENS |= {"EVERY", "GRAPH", "GUIDE"}


@lru_cache(4096)
def _names_secret(name: str) -> str:
    """The word that marks a name as that of a secret, such as TOKEN; '' without one."""
    words = _words(name)
    if name in ("PWD", "OLDPWD") or "EXISTING" in words:  # the working directory; the name of a Secret
        return ""
    for i in reversed(range(len(words))):
        word, before = words[i], words[i - 1] if i else ""
        if word in _FACTS:
            return ""
        ending = _ENDINGS.search(word)
        if ending and ending[0] in ("TOKEN", "TOKENS"):
            text_words = _TOKENS if ending[0] == "TOKENS" else _TOKEN
            if not text_words.isdisjoint([*words, word.removesuffix(ending[0])]):
                return ""
        if word in _SECRETS or (ending and word not in _NO_ENDINGS) or _SECRET_KEY.search(word):
            return ending[0] if ending else word
        if word in ("KEY", "KEYS"):
            if before in _KEY_WORDS:
                return word
            if _ENDINGS.search(before):  # under which key of a Secret a password stands
                return ""
    return ""


def _words(name: str) -> list[str]:
    """The words of a name in capitals, as CLIENT and SECRET of `clientSecret`."""
    return [word.upper() for word in _WORD.findall(name[-_LONGEST_NAME:])]


def _names_key(name: str) -> bool:
    """Whether the last word of a name, numbers aside, is KEY or KEYS or ends so."""
    words = [word for word in _words(name) if not word.isdigit()]
    return bool(words) and bool(_KEY.search(words[-1]))


# --- Values

_VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_REFERENCE = re.compile(r"\$\([A-Za-z_][\w.-]*\)")
_UNIT = r"(?:%|m|[kKMGTPE]i?|[KMG]i?B|B|[munµ]?s|min|h|d)?"
_NUMBER = re.compile(rf"[+-]?\d{{1,15}}(?:\.\d{{1,15}})?(?:[eE][+-]?\d{{1,3}})?{_UNIT}")
_PATH = re.compile(r"/?(?:/(?>[a-z._-]{33,80}|[A-Za-z0-9._@+-]{1,32})){1,16}/?")  # atomic, so that it takes linear time
_SWITCHES = {"true", "false", "yes", "no", "on", "off", "none", "null", "enabled", "disabled", "required", "optional"}
_COMMON = _SWITCHES | {"auto", "default", "always", "never", "all", "any", "trace", "debug", "info", "notice", "warn"}
_COMMON |= {"warning", "error", "critical", "fatal", "cpu", "gpu", "cuda", "rocm", "xpu", "float16", "bfloat16"}
_COMMON |= {"fp16", "bf16", "fp8", "int8", "int4", "json", "text", "plain", "http", "https", "grpc", "tcp", "udp"}
_COMMON |= {"spawn", "fork", "forkserver", "utc", "leader", "worker", "production", "staging", "development", "test"}


def is_literal_secret(name: object, value: object) -> bool:
    """Whether the value of an environment variable is a secret in plain text, by its name."""
    if not isinstance(name, str) or not isinstance(value, str) or not _is_literal(value):
        return False
    word = _names_secret(name) or ("KEY" if _names_key(name) else "")
    return _reveals_secret(word, name, value)


def _is_harmless(name: str, value: str) -> bool:
    return not is_literal_secret(name, value)


def _reveals_secret(word: str, name: str, value: str) -> bool:
    """Whether the value is a secret, when its name has the word of one."""
    if not word or value.lower() in _SWITCHES or (word == "TOKENS" and value.isdigit()):
        return False
    return not (word.startswith("CREDENTIAL") and value.startswith("/"))  # GOOGLE_APPLICATION_CREDENTIALS is a path


def _is_literal(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not _REFERENCE.fullmatch(value)


def _may_be_shown(name: object, value: str) -> bool:
    """Whether the value of an environment variable may be shown."""
    if is_literal_secret(name, value):
        return False
    if name in harmless_variables() or value.lower() in _COMMON or not _REFERENCE.sub("", value).strip(".:/,-_ "):
        return True
    return all(map(_NUMBER.fullmatch, value.split(","))) or all(map(_PATH.fullmatch, value.split(":")))


# --- Texts

_SHORT = 1_000  # characters of a text whose spans are cached
_LONGEST = 1024 * 1024  # characters of a text that is searched
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
    """The spans of a text that look like secrets: begin and end, sorted, not overlapping. A text that is too long to be
    searched is one span.
    """
    if len(text) > _LONGEST:
        return [(0, len(text))]
    return _find_spans(text) if len(text) <= _SHORT else _find_spans.__wrapped__(text)


@lru_cache(4096)
def _find_spans(text: str) -> Sequence[tuple[int, int]]:
    if not _HINT.search(text):
        return ()
    found_spans = sorted(span for span in _spans(text) if span[0] < span[1])
    spans: list[tuple[int, int]] = []
    for begin, end in found_spans:
        if spans and begin <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((begin, end))
    return spans


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for match in _USERINFO.finditer(text):
        if _has_password(match[0]):
            yield match.span()
    for match in _PARAMETER.finditer(text):
        if match[1].lower() in _PARAMETERS or _reveals_secret(_names_secret(match[1]), match[1], match[2]):
            yield match.span(2)
    for match in _DEFAULT.finditer(text):
        if _reveals_secret(_names_secret(match[1]), match[1], match[2]):
            yield match.span(2)
    for match in _HEADER.finditer(text):
        if not _VARIABLE.fullmatch(match[2].strip()):
            yield match.start(2), match.start(2) + len(match[2].rstrip())
    yield from _assigned_spans(text)
    for match in _OPTION.finditer(text):
        if word := _names_secret(match[1]):
            yield from _value_span(text, match.end(), match[2], " ", word, match[1])
    for match in _PAIR.finditer(text):
        value_match = (_QUOTED[match[2]] if match[2] else _UNQUOTED[":"]).match(text, match.end())
        value = value_match[0].strip() if value_match else ""
        if value_match and not (_may_be_shown if _VARIABLE_NAME.fullmatch(match[1]) else _is_harmless)(match[1], value):
            yield value_match.span()
    for pattern in (_SHAPES, _PRIVATE):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span(1) for match in _BEARER.finditer(text))
    for match in _RANDOM.finditer(text):
        if all(re.search(character, match[0]) for character in ("[a-z]", "[A-Z]", "[0-9]")):
            yield match.span()


def _assigned_spans(text: str) -> Iterator[tuple[int, int]]:
    """The spans of values after a name and `=` or `:`, as in scripts, JSON and YAML. They do not nest."""
    until = 0
    for match in _ASSIGNED.finditer(text):
        name, separator, quote = match.groups()
        word = _names_secret(name) or ("AUTH" if name.lower() == "auth" else "") if match.start() >= until else ""
        if word and (block := _BLOCK.match(text, match.end())):
            until = _end_of_block(text, match.start(), block.end())
            yield block.end(), until
        elif word:
            for begin, until in _value_span(text, match.end(), quote[-1:], separator, word, name):
                yield begin, until


def _value_span(text: str, start: int, quote: str, separator: str, word: str, name: str) -> Iterator[tuple[int, int]]:
    """The span of the value that begins there, if it is a secret."""
    value_match = (_QUOTED[quote] if quote else _UNQUOTED[separator]).match(text, start)
    value = value_match[0].strip().rstrip("\\") if value_match else ""
    if value_match and value and not _VARIABLE.fullmatch(value) and _reveals_secret(word, name, value):
        yield value_match.start(), value_match.start() + len(value_match[0].rstrip().rstrip("\\"))


def _end_of_block(text: str, key: int, begin: int) -> int:
    """The end of a YAML block scalar whose key begins at `key`: before the first line that is not indented further."""
    margin = key - (text.rfind("\n", 0, key) + 1)
    position = begin
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        line = text[position:end]
        if line.strip() and len(line) - len(line.lstrip(" ")) <= margin:
            break
        position = end
    return position - (text[position - 1] == "\n")


def _has_password(userinfo: str) -> bool:
    """Whether the userinfo of a URL has a literal password, or a literal user without a password."""
    user, colon, password = userinfo.partition(":")
    secret = password if colon else user
    return bool(_REFERENCE.sub("", secret)) and userinfo != "git"


def find_url_secrets(text: object) -> list[str]:
    """The literal userinfo and secret parameters, such as `?token=`, of URLs in a text."""
    if not isinstance(text, str) or "://" not in text:
        return []
    userinfos = [userinfo for userinfo in _USERINFO.findall(text) if _has_password(userinfo)]
    return userinfos + [
        value
        for name, value in _PARAMETER.findall(text)
        if name.lower() in _PARAMETERS or _reveals_secret(_names_secret(name), name, value)
    ]


def hide_in_text(text: str, others: Iterable[object] = ()) -> str:
    """The text with its secrets hidden. `others`: texts to compare with; a secret in none of them is marked as another
    one.
    """
    if not (spans := _secrets(text)):
        return text
    return _hide_spans(text, spans, _known_secrets(others))


def _known_secrets(texts: Iterable[object]) -> Set[str]:
    """The secrets in all of the texts."""
    return {text[begin:end] for text in texts if isinstance(text, str) for begin, end in _secrets(text)}


def _hide_spans(text: str, spans: Sequence[tuple[int, int]], known: Set[str]) -> str:
    parts, previous_end = [], 0
    for begin, end in spans:
        parts += [text[previous_end:begin], ANOTHER if known and text[begin:end] not in known else HIDDEN]
        previous_end = end
    return "".join(parts) + text[previous_end:]


_LINE = re.compile(r"(\s*(?:- )?value:\s*)(\S.*)")


def hide_in_line(line: str, name: str = "") -> str:
    """A line of a YAML file with its secrets hidden. `name`: of the variable whose value may be in the line."""
    value = _LINE.fullmatch(line) if name else None
    if value and not _may_be_shown(name, value[2].strip("\"'")):
        return value[1] + HIDDEN
    return hide_in_text(line)


# --- Command lines

_SET = re.compile(r"([A-Z][A-Z0-9_]{0,80})=(.+)", re.DOTALL)


def find_secrets(args: Sequence[object]) -> Iterator[tuple[int, str, str]]:
    """The secrets in a command line: index of the argument, option or variable, and the secret. An option may have
    several.
    """
    option_before = ""
    for i, arg in enumerate(args):
        option, equals, value = arg.partition("=") if isinstance(arg, str) else ("", "", "")
        if not isinstance(arg, str):
            option_before = ""
        elif arg.startswith("-") and not any(map(str.isspace, option)):
            option_before = option if _names_secret(option) else ""
            if (
                option_before
                and equals
                and _is_literal(value)
                and _reveals_secret(_names_secret(option), option, value)
            ):
                yield i, option, value
        elif option_before and _is_literal(arg) and _reveals_secret(_names_secret(option_before), option_before, arg):
            yield i, option_before, arg
        elif (variable := _SET.fullmatch(arg)) and is_literal_secret(variable[1], variable[2]):
            yield i, variable[1], variable[2]


def hide_in_args(args: Sequence[object], other: Sequence[object] | None = None) -> list[Any]:
    """A command line with its secrets hidden. `other`: the command line to compare with."""
    shown_args = list(args)
    other_values: dict[str, deque[str]] = {}
    for _, option, value in _find_hidden_args(other or ()):
        other_values.setdefault(option, deque()).append(value)
    for place, option, value in _find_hidden_args(args):
        known = other_values.get(option)
        shown = ANOTHER if known and known.popleft() != value else HIDDEN
        shown_args[place] = shown if shown_args[place] == value else f"{option}={shown}"
    return shown_args


def _find_hidden_args(args: Sequence[object]) -> Iterator[tuple[int, str, str]]:
    """The secrets in a command line, and values of variables that may be secrets; as `find_secrets`."""
    yield from find_secrets(args)
    known = {place for place, _, _ in find_secrets(args)}
    for i, arg in enumerate(args):
        variable = _SET.fullmatch(arg) if isinstance(arg, str) and i not in known else None
        if variable and not _may_be_shown(variable[1], variable[2]):
            yield i, variable[1], variable[2]


# --- Bodies

_ENVIRONMENT = re.compile(r"(?:extra)?env(?:s|vars?|ironment)?(\[\])?", re.IGNORECASE)
_OPAQUE = {("Secret", "data"), ("Secret", "stringData"), ("ConfigMap", "binaryData")}
_DATA = "data of a ConfigMap"


def hide_secrets(value: object, other: object = None, within: str = "") -> Any:
    """A body with its secrets hidden. `other`: the body to compare with; a secret that differs there is marked as
    another one. `within`: the key of the value, with `[]` for an item of a list.
    """
    if isinstance(value, str):
        return hide_in_text(value, [other])
    if isinstance(value, dict):
        return _hide_in_map(value, other if isinstance(other, dict) else {}, within)
    if isinstance(value, list):
        return _hide_in_list(value, other if isinstance(other, list) else [], within)
    return value


def _hide_in_list(items: list[object], others: list[object], within: str) -> list[object]:
    """A list with its secrets hidden. The counterpart of an item is the one with the same name in `others`, else the
    one at the same index.
    """
    named: dict[object, object] = {}
    for other_item in others:
        if isinstance(other_item, dict) and isinstance(name := other_item.get("name"), Hashable):
            named.setdefault(name, other_item)
    known: Set[str] | None = None
    shown: list[object] = []
    for i, item in enumerate(hide_in_args(items, others)):
        if isinstance(item, str):
            if spans := _secrets(item):
                known = _known_secrets(others) if known is None else known
                item = _hide_spans(item, spans, known)
            shown.append(item)
            continue
        counterpart = others[i] if i < len(others) else None
        if isinstance(item, dict) and "name" in item:
            counterpart = named.get(item["name"]) if isinstance(item["name"], Hashable) else None
        shown.append(hide_secrets(item, counterpart, f"{within}[]"))
    return shown


def _hide_in_map(body: dict[object, object], other: dict[object, object], within: str) -> dict[object, object]:
    shown_body: dict[object, object] = {}
    for key, value in body.items():
        other_value, kind = other.get(key), str(body.get("kind"))
        if _is_hidden(key, value, body, within):
            shown_body[key] = _placeholder(value, other_value)
        elif (kind, key) in _OPAQUE and isinstance(value, dict):
            other_value = other_value if isinstance(other_value, dict) else {}
            shown_body[key] = {name: _placeholder(text, other_value.get(name)) for name, text in value.items()}
        elif isinstance(value, list) and _names_secret(_subject(key, body)):
            other_items = {item for item in other_value if _is_scalar(item)} if isinstance(other_value, list) else set()
            shown_body[key] = [
                _placeholder(item, item if not other_value or item in other_items else "")
                if _is_scalar(item)
                else hide_secrets(item)
                for item in value
            ]
        else:
            shown_body[key] = hide_secrets(
                value, other_value, _DATA if (kind, key) == ("ConfigMap", "data") else str(key)
            )
    return shown_body


def _placeholder(value: object, other_value: object) -> str:
    """The text that replaces a secret."""
    return HIDDEN if other_value is None or other_value == value else ANOTHER


def _is_scalar(value: object) -> bool:
    """Whether it is a string or number."""
    return isinstance(value, str) or value.__class__ in (int, float)


def _subject(key: object, body: dict[object, object]) -> str:
    """The name of a value of a map: its key, or for `value` and `values` the `name` in the map."""
    name = body.get("name")
    return name if key in ("value", "values") and isinstance(name, str) else str(key)


def _is_hidden(key: object, value: object, body: dict[object, object], within: str) -> bool:
    """Whether the whole value is hidden: it has the name of a secret, or of an unknown variable."""
    if not _is_scalar(value):
        return False
    subject, text = _subject(key, body), str(value)
    pair, environment = subject != str(key), _ENVIRONMENT.fullmatch(within)
    if environment and (pair if environment[1] else not environment[1]):
        return not _may_be_shown(subject, text)
    if pair:
        return is_literal_secret(subject, text)
    if within == _DATA and _VARIABLE_NAME.fullmatch(subject) and "\n" not in text:
        return not _may_be_shown(subject, text)
    word = _names_secret(subject) or ("AUTH" if subject.lower() == "auth" else "")
    return _is_literal(text) and _reveals_secret(word, subject, text)
