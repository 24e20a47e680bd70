"""Which files of a chart's folder Helm installs or renders, whatever they are called, and what `.helmignore` hides.

tests/integrations/test_helm_files.py asks the real Helm about each rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from renderer.text import patterns

IGNORE_FILE = ".helmignore"
_NOTES = "templates/NOTES.txt"  # printed, not applied; Helm renders it after all templates in folders below
_FOLDERS = ("templates", "crds", "charts")


def is_installed(path: str) -> bool:
    """Whether Helm applies, renders or unpacks a file of the chart's folder. What it renders acts even where it makes
    no object: partials define templates, and a template may change the values of others.
    """
    folder, _, rest = path.partition("/")
    if not rest:
        return folder in _FOLDERS  # a link to a folder, which Helm follows
    if folder == "templates":
        return path != _NOTES and not rest.startswith(".")  # `templates/.?*` is never read
    if folder == "charts":
        return rest[0] not in "._" and not path.endswith(".prov")
    return folder == "crds"


class IgnoreRule(Struct, frozen=True):
    """A line of `.helmignore`: whether it ignores what it does not match, and whether it matches folders alone."""

    line: int
    text: str
    is_negated: bool
    only_folders: bool
    matches: Callable[[str], bool]

    def hides(self, path: str, is_folder: bool) -> bool:
        """Whether this rule alone hides a path."""
        if self.only_folders and not is_folder:
            return self.is_negated
        return self.matches(path) != self.is_negated


def ignore_rules(text: str) -> list[IgnoreRule]:
    """The rules of a `.helmignore`. One that Helm refuses is left out: with it there is no chart."""
    rules = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        words = line.strip()
        if words and not words.startswith("#") and "**" not in words:
            pattern = words.removeprefix("!")
            matches = _matcher(pattern.removesuffix("/"))
            if matches:
                rules.append(IgnoreRule(number, words, words != pattern, pattern.endswith("/"), matches))
    return rules


def hidden_files(rules: Iterable[IgnoreRule], paths: Iterable[str]) -> Iterator[tuple[IgnoreRule, str]]:
    """The paths that the rules hide from Helm, each with the first rule that does; a hidden folder hides all below."""
    rules = list(rules)
    known: dict[str, IgnoreRule | None] = {}
    for path in paths if rules else ():
        for end in (*(match.start() for match in re.finditer("/", path)), len(path)):
            part = path[:end]
            if part not in known:
                is_folder = end < len(path)
                known[part] = next((rule for rule in rules if rule.hides(part, is_folder)), None)
            if rule := known[part]:
                yield rule, path
                break


def _matcher(pattern: str) -> Callable[[str], bool] | None:
    """Matches paths of the chart as Helm does: a pattern without `/` the last name alone. None for no pattern."""
    try:
        compiled = patterns.expression(_expression(pattern.removeprefix("/")))
    except patterns.PatternError:
        return None
    if "/" in pattern:
        return lambda path: compiled.fullmatch(path.encode("utf-8", "replace")) is not None
    return lambda path: compiled.fullmatch(path.rpartition("/")[2].encode("utf-8", "replace")) is not None


def _expression(pattern: str) -> str:
    """The regular expression of a glob as Go's path/filepath has it."""
    parts = {"*": "[^/]*", "?": "[^/]"}
    expression = ""
    for token in re.findall(r"\\.|\[\^?(?:\\.|[^\]\\])+\]|.", pattern, re.DOTALL):
        if len(token) > 1 and token[0] == "[":
            expression += f"(?:{_character_class(token)})"
        else:
            expression += parts.get(token) or re.escape(token[-1])
    return f"(?s){expression}"


def _character_class(token: str) -> str:
    """The class of a token such as `[^a-z]`, which no `/` matches."""
    inner = token[1:-1]
    sign, inner = ("^", inner[1:]) if inner.startswith("^") else ("", inner)
    escaped = "".join(part if part == "-" else re.escape(part[-1]) for part in re.findall(r"\\.|.", inner, re.DOTALL))
    return f"[{sign}{escaped}]"
