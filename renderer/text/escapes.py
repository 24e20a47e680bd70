"""Text of others, written so that its reader takes all of it for text: one function for each target.

What cannot be printed is shown as an escape, as Python writes it (`\\x1b`, `\\n`, `\\u202e`): control characters, and
with them escape sequences, line breaks of every kind, characters that are invisible or turn the direction of text, lone
surrogates of names that are no UTF-8. In JSON it is an escape of JSON, so that programs read the same value.

So are signs by which a line of a log is a command to the CI that runs us: `::` at its beginning (GitHub), and `##[` or
`##word[` anywhere in it (GitHub, Azure Pipelines, TeamCity). GitHub's runner looks for them as its language compares
texts, that is, past characters without a width: here any character beyond ASCII may be one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# All of these as text: few runs need them, and re keeps what it has compiled.
# In a code span, nothing that Markdown, HTML, a table, or GitHub (@, #, addresses) may take for something else.
_HARMLESS = r"[\w./:@+=(),–-]+(?: [\w./:@+=(),–-]+)*"
_PLAIN = r"A-Za-z0-9 …,/–\-"  # what means nothing anywhere, in a class of re; a dot does where there is no `www`
_BEYOND_ASCII = r"[^\x00-\x7f]+|\x7f"
_COLONS = r"^([^!-~]*):(?=[^!-~]*:)"
_HASHES = r"#(?=[^\x00-\x7f]*#)"
_GO_ESCAPED = r"[^ !#-\[\]-~]"
_GO_STRING = r'"(?:[ !#-\[\]-~]|\\["\\]|\\u[0-9a-f]{4}|\\U[0-9a-f]{8})*"'


def line(text: str) -> str:
    """For a part of a line, in a terminal or a log."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    return re.sub(_HASHES, r"\\x23", text) if "#" in text and "[" in text else text


def lines(text: str) -> str:
    """For a terminal or a log: whole lines, parted by `\\n` and nothing else."""
    return "\n".join(re.sub(_COLONS, r"\1\\x3a", line(row)) for row in text.split("\n"))


def json_text(
    value: object,
    *,
    indent: int | None = None,
    default: Callable[[object], object] | None = None,
    beyond_bmp: bool = True,
) -> str:
    """For programs that read JSON, and whoever looks at it. `default`: as of `json.dumps`. Without `beyond_bmp` only
    characters up to U+FFFF are escaped: readers of YAML know no pairs of surrogates.
    """
    import json  # few runs need it

    last = "\U0010ffff" if beyond_bmp else "\uffff"
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=default)

    def escaped(run: re.Match[str]) -> str:
        if run[0].isprintable():
            return run[0]
        return "".join(char if char.isprintable() or char > last else json.dumps(char)[1:-1] for char in run[0])

    return re.sub(_HASHES, r"\\u0023", re.sub(_BEYOND_ASCII, escaped, text))


def workflow_data(text: str) -> str:
    """For the message of a GitHub workflow command, whose lines GitHub shows as lines."""
    return lines(text).replace("%", "%25").replace("\n", "%0A")


def workflow_property(text: str) -> str:
    """For a property of a GitHub workflow command, such as `file`."""
    return line(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


def markdown_text(text: str) -> str:
    """For Markdown: one line of words, and no markup."""
    return _numbered(line(text), _PLAIN)


def markdown_code(text: str) -> str:
    """For Markdown: code in a line, a list or the cell of a table; '' for none."""
    shown = line(text)
    if not shown:
        return ""
    return f"`{shown}`" if re.fullmatch(_HARMLESS, shown) else f"<code>{markdown_text(shown)}</code>"


def markdown_fence(text: str) -> str:
    """For Markdown: a fence that nothing in the text closes."""
    return "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))


def markdown_block(text: str, language: str = "text") -> str:
    """For Markdown: a block of code that keeps its lines, without a line end behind it."""
    fence = markdown_fence(text)
    return f"{fence}{language}\n{lines(text)}\n{fence}"


def html_code(text: str) -> str:
    """For HTML inside of Markdown: code in a line."""
    return f"<code>{_numbered(line(text), f'{_PLAIN}()=→')}</code>"


def mermaid_label(*rows: str) -> str:
    """For a Mermaid flowchart: the quoted label of a node or an edge, a row a line."""
    return '"' + "<br>".join(re.sub(r"[^\w .:/@+,–…-]|_|\.(?= )", _mermaid_number, line(row)) for row in rows) + '"'


def go_string(text: str) -> str:
    """For an action of a Go template: the quoted string."""
    return f'"{re.sub(_GO_ESCAPED, _go_escape, text)}"'


def from_go_string(quoted: str) -> str:
    """The text that `go_string` was called with. Raises ValueError for what it does not write."""
    if not re.fullmatch(_GO_STRING, quoted):
        raise ValueError("a string that llmaz does not write")
    return re.sub(r"\\(?:[uU]([0-9a-f]+)|(.))", lambda m: chr(int(m[1], 16)) if m[1] else m[2], quoted[1:-1])


def go_template_text(text: str, *, before_action: bool = False) -> str:
    """For a Go template: text outside of its actions. `before_action`: one may follow."""
    escaped = text.replace("{{", "{{`{{`}}")
    return f"{escaped[:-1]}{{{{`{{`}}}}" if before_action and escaped.endswith("{") else escaped


def from_go_template(text: str) -> str:
    """The text that `go_template_text` was called with, before no action."""
    return text.replace("{{`{{`}}", "{{")


def promql_string(text: str) -> str:
    """For PromQL: the quoted string."""
    return go_string(text)


def promql_selector(metric: str, *matchers: str) -> str:
    """For PromQL: the series of a metric, with matchers such as `namespace="a"`. An unusual name is a string."""
    if re.fullmatch("[a-zA-Z_:][a-zA-Z0-9_:]*", metric):
        return f"{metric}{{{','.join(matchers)}}}"
    return f"{{{','.join((f'__name__={promql_string(metric)}', *matchers))}}}"


def regex_literal(text: str) -> str:
    """For a regular expression of RE2 or Python: what matches this text alone."""
    return re.sub(r"[\x00-\x1f!-,./:-@[-^`{-\x7f]", _regex_escape, text)


def glob_literal(text: str) -> str:
    """For a pattern of Go's path.Match: what matches this path alone."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", text)


def shell_word(text: str) -> str:
    """For a POSIX shell: one word."""
    import shlex  # few runs need it

    return shlex.quote(text)


def container_text(text: str) -> str:
    """For `args`, `command` or the value of a variable of a container, where Kubernetes fills in `$(NAME)`."""
    return re.sub(r"\$(?=[$(])", "$$", text) if "$" in text else text


def _regex_escape(match: re.Match[str]) -> str:
    char = match[0]
    return f"\\{char}" if char.isprintable() else f"\\x{ord(char):02x}"


def _go_escape(match: re.Match[str]) -> str:
    char = match[0]
    if char in '"\\':
        return f"\\{char}"
    return f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"


def _numbered(text: str, plain: str) -> str:
    """The text with HTML's number for each character that is not among the `plain` ones."""
    dot = "" if "www" in text.lower() else "."  # GitHub makes links of addresses
    return re.sub(f"[^{dot}{plain}]", lambda char: f"&#{ord(char[0])};", text)


def _mermaid_number(char: re.Match[str]) -> str:
    # Mermaid breaks the line at a backslash and an n, unless something stands between them that nobody sees; "1. "
    # would begin a list.
    return f"#{ord(char[0])};" + ("#8203;" if char[0] == "\\" else "")
