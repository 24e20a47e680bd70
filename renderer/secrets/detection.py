"""Detects secrets in manifests, and hides them.

The value of an environment variable is shown where its name is known to be harmless, or the value cannot be a secret:
a number, a common word, a path. Other values are hidden that have the name of a secret (a key of a map, an option, a
parameter of a URL, a header, an assignment in a text), or look like one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from functools import lru_cache
from typing import Any

from msgspec import Struct

from renderer.secrets.shell_text import QUOTED, WORD, ShellText, Span, first_word, without_code
from renderer.secrets.words import (
    REFERENCE,
    VARIABLE_NAME,
    is_harmless,
    is_literal,
    is_literal_secret,
    may_be_shown,
    names_secret,
    reveals_secret,
)

HIDDEN = "<hidden>"
ANOTHER = "<hidden, another one>"


# --- Texts

_SHORT = 1_000  # characters of a text whose spans are cached
_LONGEST = 1024 * 1024  # characters of a text that is searched
_HINT = re.compile(
    r"value|pass|pwd|secret|token|key|cred|auth|bearer|cookie|jwt|curl|\bpat\b|psk|sas|://[^/\s]*@|[?&][\w.-]+="
    r"|sk-|hf_|gh[pousr]_|glpat|xox|AKIA|ASIA|AIza|eyJ|[A-Za-z0-9]{24}",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"(?<=://)[^\s/?#\"'<>]+(?=@)")
_PARAMETER = re.compile(r"(?<=[?&])([\w.%-]{1,80})=([^\s&?#\"'<>]+)")
_PARAMETERS = {"key", "sig", "signature", "code", "auth", "x-amz-signature", "x-amz-credential"}
_HEADER = re.compile(r"(?:proxy-)?authorization|(?:set-)?cookie", re.IGNORECASE)
_SCHEME = re.compile(r"(?:bearer|basic|digest|token|apikey|negotiate)[ \t]+", re.IGNORECASE)
_COOKIES = re.compile(
    r"[^\s;|&<>`$\"'\\]+(?:;[ \t]*(?:[\w-]+=[^\s;|&<>`$\"'\\]*|secure|httponly|partitioned)(?=[ \t]*(?:[;\"'\\]|$)))*",
    re.IGNORECASE | re.MULTILINE,
)
_BEARER = re.compile(r"\bbearer[ \t]+([\w.~+/=-]*\d[\w.~+/=-]*)", re.IGNORECASE)
_DEFAULT = re.compile(r"\$\{([A-Za-z_]\w{0,80}):?[-=]([^}\n]{1,200})\}")
_ASSIGNED = re.compile(r"(?<![\w.-])(?<!\$\{)([A-Za-z_][\w.-]{0,80})(\\?[\"'])?(\s*)([:=])([ \t]*)(\\?[\"'])?")
_OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]{0,80})(?:=|[ \t]+|[\"']?[ \t]*,[ \t]*)(\\?[\"'])?(?!-)")
_CURL = re.compile(r"(?<![\w.-])curl(?![\w.-])")
_LOGIN = re.compile(
    r"(?<![\w-])(-[BfgGiIjJklLnNOpqRsSvZ0-9#]{0,8}[uU]|--(?:proxy-)?user(?![\w-]))"  # switches of curl before -u
    r"(?:=|[ \t]+|[\"']?[ \t]*,[ \t]*)?(\\?[\"'])?(?!-)"
)
_FILLED_IN = re.compile(r"\$(?:[A-Za-z_]\w*|\d|\{[^{}]*\}|\([A-Za-z_][\w.-]*\))")
_PAIR = re.compile(r"\bname[\"']?:\s*[\"']?([\w.-]{1,80})[\"']?\s*,\s*[\"']?value[\"']?:[ \t]*(\\?[\"'])?")
_BLOCK = re.compile(r"[|>][-+]?[ \t]*\n")
_REST_OF_LINE = re.compile(r"[^\n,}\]\"']+")
_REST_OF_HEADER = re.compile(r"(?:\\(?![\"'\r\nrn])|[^\"'\\\r\n])+")
_ARRAY = re.compile(r"\([^()\n;|&<>`$]+(?=\))")
_CALL = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*\(")
_ANSI_QUOTED = re.compile(r"\$'(?:\\.|[^'\\\n])+")
_SEVERAL_WORDS = re.compile(r"[ \t]*\S+[ \t]+\S|.*[;&|`<>]|.*\$\(")
_VARIABLE = re.compile(r"(?:[A-Za-z]+\s+)?\$(?:[A-Z_][A-Z0-9_]*|\{[A-Za-z_]\w*\}|\([^()]*\))")
_SHAPES = re.compile(
    r"(?<![\w-])(?:sk-[\w-]{16,}|hf_\w{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|nvapi-[\w-]{20,}"
    r"|npm_\w{30,}|xox[abprs]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}[\w.-]*)"
)
_RANDOM = re.compile(r"(?<![\w+=])[A-Za-z0-9+]{24,}={0,2}(?![\w+])")
_ARCHITECTURE = re.compile(r"[A-Z][A-Za-z0-9]+For[A-Z][a-z]{3,}[A-Za-z]*")  # such as Qwen3ForSequenceClassification
_PRIVATE = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
    r"(?:[ \t]*(?:\r?\n|\\r|\\n)[ \t]*(?:(?:Proc-Type|DEK-Info): [\w,-]+|[A-Za-z0-9+/=]*)(?=[ \t]*(?:[\r\n\\\"'-]|$))"
    r"|[ \t]+[A-Za-z0-9+/=]{16,})*(?:[ \t]*(?:\r?\n|\\r|\\n))*"
)


_IN_CODE = re.compile(r"\$?\{[^{}]*\}|\$\w+|%s|%\(\w+\)s|<[^<>]*>")  # a value that a program fills in


Shown = Callable[[str, str], bool]  # whether the value of a variable is shown, by its name


def _secrets(text: str, script: bool, shown: Shown = may_be_shown) -> Sequence[Span]:
    """The spans of a text that look like secrets, sorted, not overlapping. A text that is too long to be searched is
    one span. `script`: whether a shell may run the text, so that code in it has to be left out.
    """
    if len(text) > _LONGEST:
        return [Span(0, len(text))]
    return _find_spans(text, script, shown) if len(text) <= _SHORT else _find_spans.__wrapped__(text, script, shown)


@lru_cache(4096)
def _find_spans(text: str, script: bool, shown: Shown) -> Sequence[Span]:
    if not _HINT.search(text):
        return ()
    spans: list[Span] = []
    for span in sorted(span for span in _spans(text, script, shown) if span.begin < span.end):
        if spans and span.begin <= spans[-1].end:
            spans[-1] = Span(spans[-1].begin, max(span.end, spans[-1].end))
        else:
            spans.append(span)
    return spans


def _spans(text: str, script: bool, shown: Shown) -> Iterator[Span]:
    shell = ShellText(text, script=script)
    for match in _USERINFO.finditer(text):
        if _has_password(match[0]):
            yield from _values(shell, Span(*match.span()))
    for match in _PARAMETER.finditer(text):
        if match[1].lower() in _PARAMETERS or reveals_secret(names_secret(match[1]), match[1], match[2]):
            yield from _values(shell, Span(*match.span(2)))
    for match in _DEFAULT.finditer(text):
        if reveals_secret(names_secret(match[1]), match[1], match[2]):
            length = len(first_word(match[2])) if script else len(match[2])
            yield from _values(shell, Span(match.start(2), match.start(2) + length), quoted=True)
    yield from _assigned_spans(shell)
    yield from _option_spans(shell)
    yield from _login_spans(shell)
    for match in _PAIR.finditer(text):
        value = _value_at(shell, match, 2, one_word=script)
        is_shown = shown if VARIABLE_NAME.fullmatch(match[1]) else is_harmless
        if value and not is_shown(match[1], value.text):
            yield from _values(shell, value.span, quoted=value.quoted)
    for pattern in (_SHAPES, _PRIVATE):
        yield from (Span(*match.span()) for match in pattern.finditer(text))
    yield from (Span(*match.span(1)) for match in _BEARER.finditer(text))
    for match in _RANDOM.finditer(text):
        has_all = all(re.search(character, match[0]) for character in ("[a-z]", "[A-Z]", "[0-9]"))
        if has_all and not _ARCHITECTURE.fullmatch(match[0]):
            yield Span(*match.span())


def _values(shell: ShellText, span: Span, *, quoted: bool = False) -> Iterator[Span]:
    """The parts of a span that are hidden: all but code, where the text may be a script."""
    return without_code(shell.text, span, quoted=quoted) if shell.script else iter((span,))


class _Value(Struct, frozen=True):
    """A value in a text."""

    text: str
    span: Span
    quoted: bool = False  # operators in it are none of a shell


def _make_value(shell: ShellText, begin: int, end: int, *, quoted: bool = False) -> _Value | None:
    """The value of a span without blanks and a backslash at its end; None where nothing is left."""
    text = shell.text[begin:end]
    stripped = text.rstrip()
    stripped = stripped if quoted else stripped.rstrip("\\")
    return _Value(stripped.strip(), Span(begin, begin + len(stripped)), quoted) if stripped.strip() else None


def _value_at(
    shell: ShellText, match: re.Match[str], mark: int, *, one_word: bool, header: bool = False
) -> _Value | None:
    """The value that begins at the end of a match, whose group `mark` is its quote. `one_word`: it ends with the first
    word where it has no quotes. None where there is no value, but a command or a call.
    """
    text, begin = shell.text, match.end()
    if quote := match[mark]:
        value = QUOTED[quote].match(text, begin) if shell.opens(match.start(mark), quote) else None
        return _make_value(shell, begin, value.end(), quoted=True) if value else None
    if not one_word:
        rest = (_REST_OF_HEADER if header else _REST_OF_LINE).match(text, begin)
        end = rest.end() if rest else begin
        call = _CALL.search(text, begin, end) if shell.script else None
        is_whole = call and (call.end() == end or call.end() <= text.rfind(")", begin, end))
        return _make_value(shell, begin, call.start() if call and is_whole else end)
    if several := _ANSI_QUOTED.match(text, begin) or _ARRAY.match(text, begin):
        return _make_value(shell, begin, several.end(), quoted=True)
    scheme = _SCHEME.match(text, begin) if header else None
    word = WORD.match(text, scheme.end() if scheme else begin)
    is_call = word and shell.script and text[word.end() : word.end() + 1] == "("
    return _make_value(shell, begin, word.end()) if word and not is_call else None


def _option_spans(shell: ShellText) -> Iterator[Span]:
    """The spans of values of options in a command line."""
    for match in _OPTION.finditer(shell.text):
        if not (word := names_secret(match[1])):
            continue
        value = _value_at(shell, match, 2, one_word=True)
        if value and not value.quoted:
            value = _make_value(shell, value.span.begin, value.span.begin + len(value.text.partition("]")[0]))
        if value and not _VARIABLE.fullmatch(value.text) and reveals_secret(word, match[1], value.text):
            yield from _values(shell, value.span, quoted=value.quoted)


def _login_spans(shell: ShellText) -> Iterator[Span]:
    """The spans of users with their passwords in command lines of curl."""
    if not (curl := _CURL.search(shell.text)):
        return
    for match in _LOGIN.finditer(shell.text, curl.end()):
        if value := _value_at(shell, match, 2, one_word=True):
            spans = [*_values(shell, value.span, quoted=value.quoted)]
            if _is_login("".join(shell.text[span.begin : span.end] for span in spans)):
                yield from spans


def _is_login(text: str) -> bool:
    """Whether the text is a user and a literal password."""
    _, colon, password = text.partition(":")
    return bool(colon and _FILLED_IN.sub("", password)) and not password.startswith("//")


def _assigned_spans(shell: ShellText) -> Iterator[Span]:
    """The spans of values after a name and `=` or `:`, as in scripts, JSON and YAML. They do not nest."""
    until = 0
    for match in _ASSIGNED.finditer(shell.text):
        name = match[1]
        word = names_secret(name) if match.start() >= until else ""
        if not word:
            continue
        if block := _block(shell, match):
            until = block.end
            yield from _block_spans(shell, block)
            continue
        value = _assigned_value(shell, match)
        if value and not _VARIABLE.fullmatch(value.text) and reveals_secret(word, name, value.text):
            until = value.span.end
            yield from _values(shell, value.span, quoted=value.quoted)


def _assigned_value(shell: ShellText, match: re.Match[str]) -> _Value | None:
    """The value of a match of _ASSIGNED: for a shell a word, in YAML and in a header the rest of the line."""
    header = bool(_HEADER.fullmatch(match[1]))
    if match[4] == "=" and (shell.script or not header):
        if match[5] and not match[3] and not match[6] and shell.script:
            return None  # no value: `TOKEN= command`
        one_word = shell.script or not shell.starts_line(match.start())
        return _value_at(shell, match, 6, one_word=one_word, header=header and bool(match[3]))
    if header and match[1].lower().endswith("cookie") and not match[6] and shell.script:
        cookies = _COOKIES.match(shell.text, match.end())
        return _make_value(shell, match.end(), cookies.end(), quoted=True) if cookies else None
    alone = shell.starts_line(match.start()) or shell.follows_quote(match.start())
    return _value_at(shell, match, 6, one_word=shell.script and not alone, header=header)


def _block(shell: ShellText, match: re.Match[str]) -> Span | None:
    """The YAML block scalar behind a key; None where there is none, and where a shell may read `|` as its own."""
    block = _BLOCK.match(shell.text, match.end())
    if not block or match[6] or (shell.script and not (match[4] == ":" and shell.starts_line(match.start()))):
        return None
    return Span(block.end(), _end_of_block(shell.text, match.start(), block.end()))


def _block_spans(shell: ShellText, block: Span) -> Iterator[Span]:
    """What is hidden of a block scalar: all of it, but in a script no line that may be a command."""
    lines = shell.text[block.begin : block.end].split("\n") if shell.script else []
    if not any(map(_SEVERAL_WORDS.match, lines)):
        yield block
        return
    begin = block.begin
    for line in lines:
        if not _SEVERAL_WORDS.match(line):
            yield Span(begin + len(line) - len(line.lstrip()), begin + len(line))
        begin += len(line) + 1


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
    return bool(REFERENCE.sub("", secret)) and userinfo != "git"


def find_url_secrets(text: object) -> list[str]:
    """The literal userinfo and secret parameters, such as `?token=`, of URLs in a text."""
    if not isinstance(text, str) or "://" not in text:
        return []
    userinfos = [userinfo for userinfo in _USERINFO.findall(text) if _has_password(userinfo)]
    return userinfos + [
        value
        for name, value in _PARAMETER.findall(text)
        if not _IN_CODE.fullmatch(value)
        and (name.lower() in _PARAMETERS or reveals_secret(names_secret(name), name, value))
    ]


def has_secret_shape(text: object) -> bool:
    """Whether a text has what looks like a token of a known service, or a private key, whatever its name says."""
    return isinstance(text, str) and bool(_SHAPES.search(text) or _PRIVATE.search(text))


def hide_in_text(text: str, others: Iterable[object] = (), *, script: bool = True, shown: Shown = may_be_shown) -> str:
    """The text with its secrets hidden. `others`: texts to compare with; a secret in none of them is marked as another
    one. `script`: whether a shell may run the text: then nothing is hidden that would be a command there.
    """
    if not (spans := _secrets(text, script, shown)):
        return text
    return _hide_spans(text, spans, _known_secrets(others, script=script))


def _known_secrets(texts: Iterable[object], *, script: bool = True) -> Set[str]:
    """The secrets in all of the texts."""
    return {text[span.begin : span.end] for text in texts if isinstance(text, str) for span in _secrets(text, script)}


def _hide_spans(text: str, spans: Sequence[Span], known: Set[str]) -> str:
    parts, previous_end = [], 0
    for span in spans:
        is_other = known and text[span.begin : span.end] not in known
        parts += [text[previous_end : span.begin], ANOTHER if is_other else HIDDEN]
        previous_end = span.end
    return "".join(parts) + text[previous_end:]


_LINE = re.compile(r"(\s*(?:- )?value:\s*)(\S.*)")


def hide_in_line(line: str, name: str = "") -> str:
    """A line of a YAML file with its secrets hidden. `name`: of the variable whose value may be in the line."""
    value = _LINE.fullmatch(line) if name else None
    if value and not may_be_shown(name, value[2].strip("\"'")):
        return value[1] + HIDDEN
    return hide_in_text(line, script=False)


# --- Command lines

_SCRIPT_BEFORE = re.compile(r"|--|[-+]\w*c")  # of an argument that a shell may run
_SET = re.compile(r"([A-Z][A-Z0-9_]{0,80})=(.+)", re.DOTALL)


class SecretArgument(Struct, frozen=True):
    """A secret in a command line: the index of its argument, the option or variable, and the secret."""

    index: int
    name: str
    value: str


def find_secrets(args: Sequence[object]) -> Iterator[SecretArgument]:
    """The secrets in a command line. An option may have several."""
    for argument in _arguments(args):
        if argument.name.startswith("-"):
            word = names_secret(argument.name)
            is_secret = reveals_secret(word, argument.name, argument.value) if word else _is_login(argument.value)
            if is_literal(argument.value) and is_secret:
                yield argument
        elif is_literal_secret(argument.name, argument.value):
            yield argument


def _arguments(args: Sequence[object]) -> Iterator[SecretArgument]:
    """The options and variables of a command line with their values, as far as a value is not a command."""
    option_before, previous, is_curl = "", "", False
    for i, arg in enumerate(args):
        if not isinstance(arg, str):
            option_before, previous = "", ""
            continue
        option, equals, value = arg.partition("=")
        if arg.startswith("-") and not any(map(str.isspace, option)):
            login = _LOGIN.match(arg) if is_curl else None
            option_before = option if names_secret(option) or (login and login.end() == len(arg)) else ""
            if login and login.end() < len(arg):
                yield SecretArgument(i, login[1], first_word(arg[login.end() :]))
            elif option_before and equals:
                yield SecretArgument(i, option, first_word(value) if _SCRIPT_BEFORE.fullmatch(previous) else value)
        elif option_before and (previous.startswith("-") or not _SEVERAL_WORDS.match(arg)):
            yield SecretArgument(i, option_before, arg if names_secret(option_before) else first_word(arg))
        elif variable := _SET.fullmatch(arg):
            of_env = previous.rpartition("/")[2] == "env"
            yield SecretArgument(i, variable[1], variable[2] if of_env else first_word(variable[2]))
            if of_env:
                continue  # the next one may be a variable too
        is_curl = is_curl or bool(_CURL.fullmatch(arg.rpartition("/")[2]))
        previous = arg


def hide_in_args(
    args: Sequence[object], other: Sequence[object] | None = None, shown: Shown = may_be_shown
) -> list[Any]:
    """A command line with its secrets hidden. `other`: the command line to compare with."""
    shown_args = list(args)
    other_values: dict[str, deque[str]] = {}
    for argument in _find_hidden_args(other or (), shown):
        other_values.setdefault(argument.name, deque()).append(argument.value)
    for argument in _find_hidden_args(args, shown):
        known = other_values.get(argument.name)
        mask = ANOTHER if known and known.popleft() != argument.value else HIDDEN
        text, assigned = str(shown_args[argument.index]), f"{argument.name}={argument.value}"
        if text.startswith(assigned):
            shown_args[argument.index] = f"{argument.name}={mask}{text.removeprefix(assigned)}"
        else:
            before, _, rest = text.rpartition(argument.value)
            shown_args[argument.index] = f"{before}{mask}{rest}"
    return shown_args


def _find_hidden_args(args: Sequence[object], shown: Shown) -> Iterator[SecretArgument]:
    """The secrets in a command line, and values of variables that may be secrets; as `find_secrets`."""
    secrets = list(find_secrets(args))
    yield from secrets
    known = {argument.index for argument in secrets}
    for argument in _arguments(args):
        if argument.name.startswith("-") or argument.index in known or not argument.value:
            continue
        if not shown(argument.name, argument.value):
            yield argument


# --- Bodies

_ENVIRONMENT = re.compile(r"(?:extra)?env(?:s|vars?|ironment)?(\[\])?", re.IGNORECASE)
_OPAQUE = {("Secret", "data"), ("Secret", "stringData"), ("ConfigMap", "binaryData")}
_DATA, _SETTINGS = "data of a ConfigMap", "settings in a ConfigMap"
# A file of variables (.env) is not among them: a shell may source it.
_SETTINGS_FILE = re.compile(r".*\.(?:ya?ml|json|toml|ini|cfg|conf|config|properties|xml|txt)", re.IGNORECASE)
_SCRIPT_FILE = re.compile(r".*\.(?:(?:ba|z|k|a|da)?sh|py|pl|rb|js|mjs|ts|lua|php|awk|sql|go|ps1)", re.IGNORECASE)


def hide_secrets(value: object, other: object = None, within: str = "", shown: Shown = may_be_shown) -> Any:
    """A body with its secrets hidden. `other`: the body to compare with; a secret that differs there is marked as
    another one. `within`: the key of the value, with `[]` for an item of a list. `shown`: which variables are shown.
    """
    if isinstance(value, str):
        return hide_in_text(value, [other], script=within != _SETTINGS, shown=shown)
    if isinstance(value, dict):
        return _hide_in_map(value, other if isinstance(other, dict) else {}, within, shown)
    if isinstance(value, list):
        return _hide_in_list(value, other if isinstance(other, list) else [], within, shown)
    return value


def hide_known_secrets(value: object) -> Any:
    """A body without what is a secret by its name or by its look: other variables are shown, whatever their value."""
    return hide_secrets(value, shown=is_harmless)


def _hide_in_list(items: list[object], others: list[object], within: str, is_shown: Shown) -> list[object]:
    """A list with its secrets hidden. The counterpart of an item is the one with the same name in `others`, else the
    one at the same index.
    """
    named: dict[object, object] = {}
    for other_item in others:
        if isinstance(other_item, dict) and isinstance(name := other_item.get("name"), Hashable):
            named.setdefault(name, other_item)
    known: Set[str] | None = None
    shown: list[object] = []
    for i, item in enumerate(hide_in_args(items, others, is_shown)):
        if isinstance(item, str):
            if spans := _secrets(item, True, is_shown):
                known = _known_secrets(others) if known is None else known
                item = _hide_spans(item, spans, known)
            shown.append(item)
            continue
        counterpart = others[i] if i < len(others) else None
        if isinstance(item, dict) and "name" in item:
            counterpart = named.get(item["name"]) if isinstance(item["name"], Hashable) else None
        shown.append(hide_secrets(item, counterpart, f"{within}[]", is_shown))
    return shown


def _hide_in_map(
    body: dict[object, object], other: dict[object, object], within: str, shown: Shown
) -> dict[object, object]:
    shown_body: dict[object, object] = {}
    for key, value in body.items():
        other_value, kind = other.get(key), str(body.get("kind"))
        if _is_hidden(key, value, body, within, shown):
            shown_body[key] = _placeholder(value, other_value)
        elif (kind, key) in _OPAQUE and isinstance(value, dict):
            other_value = other_value if isinstance(other_value, dict) else {}
            shown_body[key] = {name: _placeholder(text, other_value.get(name)) for name, text in value.items()}
        elif isinstance(value, list) and names_secret(_subject(key, body)):
            other_items = {item for item in other_value if _is_scalar(item)} if isinstance(other_value, list) else set()
            shown_body[key] = [
                _placeholder(item, item if not other_value or item in other_items else "")
                if _is_scalar(item)
                else hide_secrets(item, shown=shown)
                for item in value
            ]
        else:
            shown_body[key] = hide_secrets(value, other_value, _within(kind, str(key), within), shown)
    return shown_body


def _within(kind: str, key: str, within: str) -> str:
    """What `hide_secrets` is told that the value of a key is within."""
    if (kind, key) == ("ConfigMap", "data"):
        return _DATA
    return _SETTINGS if within == _DATA and _SETTINGS_FILE.fullmatch(key) else key


def _is_script(name: str, text: str) -> bool:
    """Whether an entry of a ConfigMap is a program, whatever its name says beside that."""
    return text.startswith("#!") or bool(_SCRIPT_FILE.fullmatch(name))


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


def _is_hidden(key: object, value: object, body: dict[object, object], within: str, shown: Shown) -> bool:
    """Whether the whole value is hidden: it has the name of a secret, or of an unknown variable."""
    if not _is_scalar(value):
        return False
    subject, text = _subject(key, body), str(value)
    pair, environment = subject != str(key), _ENVIRONMENT.fullmatch(within)
    if environment and (pair if environment[1] else not environment[1]):
        return not shown(subject, text)
    if pair:
        return is_literal_secret(subject, text)
    if within == _DATA and VARIABLE_NAME.fullmatch(subject) and "\n" not in text:
        return not shown(subject, text)
    if within == _DATA and _is_script(subject, text):
        return False
    return is_literal(text) and reveals_secret(names_secret(subject), subject, text)
