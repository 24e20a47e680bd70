"""Every hint of a case in tests/errors that says what to write is followed word for word: the finding is gone, and none
of higher rank has come. So is every folder `fixed`, by the case's own command.

Hints about words of command lines are followed in tests/check/engines, those about words of other programs in
tests/test_foreign_words.py. Commands whose problems have no form for programs are left out.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.conftest import Llmaz
from tests.errors.test_errors import CASES, ERRORS, FIXED, OURS
from tests.hint_text import filled, merge

RANKS = ("note", "warning", "error")
NAMES = ("name", "path", "expr")  # without which an item of a list says nothing
COMMANDS = ("render", "validate", "check", "nodepools")  # whose problems have a form for programs
_VALUE = r"""(?:\{.*?\}|\[.*?\]|"[^"]*"|[^\s,;{\["]+)"""
FOLLOWED = re.compile(
    r"did you mean '(?P<word>[^']+)'(?:(?:, '[^']+')* or '[^']+')?\?"
    r"|did you mean (?P<amount>\d[\w.]*)\?"
    r'|write "(?P<quoted>[^"]+)" in quotes'
    r"|write (?P<number>\d+) without quotes"
    r"|write a list: (?P<list>\[.*\])"
    r"|write (?P<map>\{.*\})"
    r"|(?P<out>leave it out)(?:[;:,] .*| or .*)?"
    r"|move it to (?P<to>spec\.[\w.]+)(?:, .*)?"
    r"|write an? (?:[\w' -]+, )*[\w' -]+ such as (?P<such>[\w.:/@%-]*\w%?)(?:(?:, [\w.-]+)* or .*|, .*)?"
    r"|rename it to (?P<name>[\w-]+)"
    rf"|write (?P<fields>[\w.-]+: {_VALUE}(?:,(?: and)? [\w.-]+: {_VALUE})*)"
    r"(?: in place of (?P<instead>\w+))?(?P<top> in spec)?"
    r"(?:; (?:backendRuntimeConfig|the Secret|each|with) .*|,? or .*)?"
)
# By case and code, hints after which something of higher rank comes, and why that is right.
REVEALING: Mapping[tuple[str, str], str] = {
    ("W455-weights-over-hosts", "N256"): "with the size of its weights it is known that the model does not fit",
    ("E349-rank-ports-of-roles-and-an-old-pool", "N256"): "the same",
    ("E388-disaggregation-with-a-pipeline", "N256"): "the same",
    ("W524-resources-of-a-few-bytes", "W524"): "the limit beside it has the same fault, and its own hint",
}

# Cases whose hints cannot be followed here, and why.
UNFOLLOWED: Mapping[str, str] = {
    "E821-patches-of-pods-as-text": "what is to be left out is in the text of a patch",
}


def is_of_command_line(finding: Finding) -> bool:
    """Whether it is about a word of an engine's command line: tests/check/engines/test_followed_lines.py."""
    return bool(re.search(r"\b(?:args|command|argFlags)\[\d+\]", finding.field))


class Finding(NamedTuple):
    file: str
    line: int
    code: str
    severity: str
    field: str
    message: str
    hint: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is, wherever it has moved to."""
        return self.file, self.code, self.field


def words_of(name: str) -> list[str]:
    """The command line of a case."""
    arguments = ERRORS / name / "args.txt"
    return shlex.split(arguments.read_text()) if arguments.exists() else ["render", "-o", "out", "-v"]


def hints_of(name: str) -> list[str]:
    """The hints of a case that say what to write."""
    hints = re.findall(r"^    hint: (.*)$", (ERRORS / name / "stderr.txt").read_text(), re.MULTILINE)
    return [hint for hint in dict.fromkeys(hints) if FOLLOWED.fullmatch(hint)]


def with_input(name: str, folder: Path, source: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, symlinks=True, ignore=lambda at, names: OURS if Path(at) == source else ())


def findings(words: list[str], llmaz: Llmaz) -> list[Finding]:
    """What a command tells, in the folder in which the process is."""
    text = llmaz(*words, "--format", "json").out
    problems = json.loads(text[: text.rindex("]") + 1]) if "]" in text else []
    fields = ("file", "line", "code", "severity", "field", "message", "hint")
    return [Finding(*(problem[field] for field in fields)) for problem in problems]


def counted(findings_told: list[Finding], finding: Finding) -> int:
    """How often a finding is told. What is left out of a list moves what is behind it, which says something else."""
    is_out = "leave it out" in finding.hint
    return sum(other.key == finding.key and (not is_out or other.message == finding.message) for other in findings_told)


def path_of(field: str) -> list[str | int]:
    """The parts of a path as findings have it."""
    parts = re.findall(r"([^.\[\]]+)|\[([^\]]*)\]", field)
    return [int(index) if index.isdigit() else name or index for name, index in parts]


def follow(finding: Finding, words: list[str]) -> bool:
    """Changes the file, or an option of the command, as the hint says; whether that is possible."""
    match = FOLLOWED.fullmatch(finding.hint)
    assert match
    old_words = [*re.findall(r"'([^']+)'", finding.message), *map(str, path_of(finding.field)[-1:])]
    if finding.file.startswith("--"):
        setting = finding.file.partition(" ")[2]
        old = next((old for old in old_words if old in setting), "")
        new = match["word"] or match["such"] or ""
        words[:] = [setting.replace(old, new) if word == setting else word for word in words]
        return bool(old and new)
    file = Path(finding.file)
    if finding.file in words and not file.exists():  # a path of the command
        words[:] = [match["name"] or match["word"] if word == finding.file else word for word in words]
        return None not in words
    if not file.is_file() or not finding.line:
        return False
    new = match["word"] or match["name"]
    if finding.code == "E103":  # of a key, which is no path
        new, old_words = f'"{match["quoted"]}"', [match["quoted"] or ""]
    if not new:
        return edit(file, finding, match)
    lines = file.read_text("utf-8").split("\n")
    for old in old_words:
        pattern = rf"(?<![\w.-]){re.escape(old)}(?![\w.-])"
        for index in range(finding.line - 1, len(lines)):
            if re.search(pattern, lines[index]):
                lines[index] = re.sub(pattern, lambda _: new, lines[index], count=1)
                file.write_text("\n".join(lines), "utf-8")
                return True
    return False


def edit(file: Path, finding: Finding, match: re.Match[str]) -> bool:
    """Changes the object that a finding is about."""
    text = file.read_text("utf-8")
    nodes = [*yaml.compose_all(text, yaml.CSafeLoader)]
    bodies = [*yaml.load_all(text, yaml.CSafeLoader)]
    ends = [node.end_mark.line for node in nodes]
    body = bodies[next((i for i, end in enumerate(ends) if finding.line <= end), len(bodies) - 1)]
    path = path_of(finding.field)
    parent = value_at(body, path[:-1])
    if match["fields"]:
        fields = yaml.safe_load("{" + match["fields"].replace(", and ", ", ") + "}")
        written = value_at(parent, path[-1:])
        if finding.code == "E301":
            parent.pop(path[-1], None)
        if match["instead"]:
            parent.pop(match["instead"], None)
        for key, item in fields.items():
            *above, last = key.split(".")
            start: Any = body["spec"] if match["top"] else parent
            if above and above[0] in path:
                start = value_at(body, path[: path.index(above[0])])
            elif above:
                start = body if above[0] == "spec" else body["spec"]
            elif isinstance(written, dict) and (finding.code == "E302" or isinstance(parent, list)):
                start = written
            for part in above:
                start = start.setdefault(part, {})
            merge(start, filled({last: item}, written))
    elif not path or (isinstance(parent, dict) and path[-1] not in parent):
        return False
    elif match["out"]:
        outer = value_at(body, path[:-2])
        if path[-1] in NAMES and isinstance(outer, list):
            del outer[int(path[-2])]
        else:
            del parent[path[-1]]
    elif match["to"]:
        *above, last = path_of(match["to"])
        start = body
        for part in above:
            start = start.setdefault(part, {})
        start[last] = parent.pop(path[-1])
    elif match["such"]:
        is_key = finding.message.endswith("is not a valid key")
        parent[match["such"] if is_key else path[-1]] = parent.pop(path[-1]) if is_key else match["such"]
    else:
        scalar = match["number"] or match["list"] or match["map"] or match["amount"]
        parent[path[-1]] = match["quoted"] or yaml.safe_load(scalar)
    file.write_text(yaml.safe_dump_all(bodies, allow_unicode=True, sort_keys=False), "utf-8")
    return True


def value_at(value: Any, path: list[str | int]) -> Any:
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def followed_cases() -> Iterator[str]:
    for name in CASES:
        if words_of(name)[0] in COMMANDS and hints_of(name) and name not in UNFOLLOWED:
            yield name


@pytest.mark.parametrize("name", [*followed_cases()])
def test_hints(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    forms = ("--format", "json", "github", "sarif", "gitlab")
    words = [word for word in words_of(name) if word not in forms]
    work = tmp_path / "input"
    with_input(name, work, ERRORS / name)
    monkeypatch.chdir(work)
    before = findings(words, llmaz)
    wrong = []
    for finding in before:
        if not FOLLOWED.fullmatch(finding.hint) or is_of_command_line(finding):
            continue
        monkeypatch.chdir(tmp_path)
        with_input(name, work, ERRORS / name)
        monkeypatch.chdir(work)
        label, line = f"{finding.code} {finding.file} {finding.field}: {finding.hint}", list(words)
        if not follow(finding, line):
            wrong.append(f"not followed: {label}")
            continue
        after = findings(line, llmaz)
        known = {other.key for other in before}
        new = [other for other in after if other.key not in known]
        higher = [other for other in new if RANKS.index(other.severity) > RANKS.index(finding.severity)]
        if counted(after, finding) >= counted(before, finding):
            wrong.append(f"still there: {label}")
        if higher and (name, finding.code) not in REVEALING:
            wrong.append(f"comes: {label}: {[(other.code, other.field, other.message) for other in higher]}")
    assert wrong == []


@pytest.mark.parametrize("name", FIXED)
def test_what_the_page_says_to_write_instead(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    """By the case's own command: nothing of the code that it shows, and no error."""
    work = tmp_path / "input"
    with_input(name, work, ERRORS / name / "fixed")
    monkeypatch.chdir(work)
    done = llmaz(*words_of(name))
    code = name.partition("-")[0]
    assert f"[{code}]" not in done.out + done.err
    assert done.code in (0, 1), done.err


def test_reasons_are_of_cases() -> None:
    for name, code in REVEALING:
        assert f"[{code}]" in (ERRORS / name / "stderr.txt").read_text()


def test_so_many_are_followed() -> None:
    assert len([*followed_cases()]) > 150
