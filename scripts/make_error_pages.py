#!/usr/bin/env python3
"""Writes renderer/error_pages/pages.json: for each error code the case that shows it best, with what that prints.

The cases are those of the tests, whose goldens are the real output: tests/errors first, then tests/cases, those of
adoption, of manifests checked together, and the sessions of tests/error_pages. A folder `fixed` in a case of
tests/errors holds the input as it should be.
`scripts/make_error_pages.py` rewrites the file, `--check` exits 1 when it is stale (a test runs that).
"""

from __future__ import annotations

import difflib
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import yaml

from renderer.diagnostics.wordings import WORDINGS
from renderer.error_pages import FILE, Excerpt, Sample
from tests.check.test_graph import varied
from tests.console import steps

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
OTHERS: Final = ("args.txt", "stderr.txt", "fixed")  # of a case's folder: no input
WHOLE: Final = 45  # lines of an input that is shown as it is
BEFORE, AFTER = 16, 6  # lines around a place in a longer one
LONGEST: Final = 160  # characters of a line of input
LONGEST_OUTPUT: Final = 700
SHOWN: Final = 2  # diagnostics of one code
MOST_HUNKS: Final = 3
MOST_CASES: Final = 6
MOST_PAGES: Final = 4
_DIAGNOSTIC: Final = re.compile(
    r"^(?P<file>[^\n]*?)(?::(?P<line>\d+):(?P<column>\d+))?: (?P<text>[^\n]*) \[(?P<code>[ENW]\d{3})\]"
    r"(?:\n    hint: (?P<hint>[^\n]*))?$",
    re.MULTILINE,
)
_CODE: Final = re.compile(r"\b[ENW]\d{3}\b")
_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


class Case(NamedTuple):
    """A folder of tests that shows codes."""

    name: str
    command: str
    inputs: Mapping[str, str]
    """Text by path; files that are no text are left out."""
    output: str
    """What the command prints."""
    fixed: Mapping[str, str]
    before: str = ""
    """Of a session: earlier commands with what they print, as on a console."""
    is_session: bool = False

    def diagnostics(self, code: str) -> list[re.Match[str]]:
        """What the output says under the code."""
        return [match for match in _DIAGNOSTIC.finditer(self.output) if match["code"] == code]

    def codes(self) -> list[str]:
        """The codes that it shows: those of its output, of a session the one that it is named after."""
        if self.is_session:
            return [self.name[:4]]
        return list(dict.fromkeys(match["code"] for match in _DIAGNOSTIC.finditer(self.output)))

    def cost(self, code: str) -> tuple[bool, bool, bool, bool, int]:
        """Smaller for a case that shows the code better: whose code it is, with a better input, in the usual way."""
        lines = sum(text.count("\n") for text in self.inputs.values())
        is_usual = self.command.split()[1] in ("render", "validate", "adopt") and "--set" not in self.command
        is_own = self.name.startswith(code)
        return not (is_own and self.fixed), not is_own, not change(self, code), not is_usual, lines


def texts(folder: Path, others: Iterable[str] = ()) -> dict[str, str]:
    """The files below the folder that are text, by path; without those of the names in `others` at its top."""
    files = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if relative.parts[0] in others or not path.is_file():
            continue
        try:
            files[relative.as_posix()] = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
    return files


def error_case(folder: Path) -> Case:
    """A case of tests/errors."""
    arguments = folder / "args.txt"
    words = shlex.split(arguments.read_text("utf-8")) if arguments.exists() else ["render", "-o", "out"]
    return Case(
        folder.name,
        shlex.join(["llmaz", *words]),
        texts(folder, OTHERS),
        (folder / "stderr.txt").read_text("utf-8"),
        texts(folder / "fixed") if (folder / "fixed").exists() else {},
    )


def variant_case(folder: Path) -> Case:
    """A case of tests/data/chain: objects that are checked together."""
    variant = yaml.safe_load((folder / "variant.yaml").read_text("utf-8"))
    objects = yaml.dump_all(varied(variant), Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
    external = [word for pattern in variant.get("external", ()) for word in ("--external", pattern)]
    command = shlex.join(["llmaz", "check", *external, "set.yaml"])
    return Case(folder.name, command, {"set.yaml": objects}, (folder / "stderr.txt").read_text("utf-8"), {})


def session_case(folder: Path) -> Case:
    """A session of tests/error_pages, whose last command shows the code."""
    *before, (command, output) = steps((folder / "console.txt").read_text("utf-8"))
    earlier = "".join(f"$ {word}\n{text}" for word, text in before)
    inputs = {path: text for path, text in texts(folder, ["console.txt"]).items() if ".whl/" not in path}
    return Case(folder.name, command, inputs, output, {}, earlier, is_session=True)


def all_cases() -> Iterator[Case]:
    """Every case that shows codes, those of tests/errors first."""
    for path in sorted(TESTS.glob("errors/*-*/stderr.txt")):
        yield error_case(path.parent)
    for path in sorted(TESTS.glob("cases/*/stderr.txt")):
        arguments = path.parent / "args.txt"
        words = shlex.split(arguments.read_text("utf-8")) if arguments.exists() else []
        command = shlex.join(["llmaz", "render", *words])
        yield Case(path.parent.name, command, texts(path.parent / "input"), path.read_text("utf-8"), {})
    for path in sorted(TESTS.glob("adopt/*/*/report.txt")):
        inputs = {f"input/{name}": text for name, text in texts(path.parent / "input").items()}
        output = path.read_text("utf-8").partition("\n")[2]
        yield Case(path.parent.name, "llmaz adopt input -o out", inputs, output, {})
    for folder in ("llmaz", "sources"):
        for path in sorted(TESTS.glob(f"adopt/{folder}/*/stderr.txt")):
            inputs = {"input.yaml": (path.parent / "input.yaml").read_text("utf-8")}
            yield Case(path.parent.name, "llmaz adopt input.yaml", inputs, path.read_text("utf-8"), {})
    for path in sorted(TESTS.glob("data/chain/variants/*/stderr.txt")):
        yield variant_case(path.parent)
    for path in sorted(TESTS.glob("error_pages/sessions/*/console.txt")):
        yield session_case(path.parent)


def title(name: str) -> str:
    """What a case is about, by the name of its folder."""
    return re.sub(r"^[ENW]\d{3}-", "", name).replace("-", " ")


def cut(line: str, length: int) -> str:
    """The beginning of a long line."""
    return line if len(line) <= length else f"{line[:length]}…"


def excerpt(file: str, text: str, line: int) -> Excerpt:
    """The file, or the lines of a long one around a line: of its document, where that is short enough."""
    lines = [cut(row, LONGEST) for row in text.splitlines()]
    if len(lines) <= WHOLE:
        return Excerpt(file, "".join(f"{row}\n" for row in lines))
    start = max((i + 1 for i in range(min(line - 1, len(lines))) if lines[i] == "---"), default=0)
    end = next((i for i in range(max(line, start), len(lines)) if lines[i] == "---"), len(lines))
    if end - start > WHOLE:
        start, end = max(start, line - 1 - BEFORE), min(end, line + AFTER)
    return Excerpt(file, "".join(f"{row}\n" for row in lines[start:end]), start + 1, is_whole=False)


def excerpts(case: Case, places: Iterable[tuple[str, int]]) -> Iterator[Excerpt]:
    """All files of a small case; of others those that diagnostics lead to."""
    if sum(text.count("\n") for text in case.inputs.values()) <= WHOLE and len(case.inputs) <= 4:
        for file, text in case.inputs.items():
            yield excerpt(file, text, 1)
        return
    files: dict[str, int] = {}
    for file, line in places:
        files.setdefault(file.removeprefix("./"), line)
    for file, line in files.items():
        if file in case.inputs:
            yield excerpt(file, case.inputs[file], line)


def output_of(case: Case, code: str) -> str:
    """What the case prints: all of it where that is short, else what it says under the code."""
    lines = [cut(line, LONGEST_OUTPUT) for line in case.output.splitlines()]
    if case.is_session or len(lines) <= 6:
        return "".join(f"{line}\n" for line in lines)
    matches = case.diagnostics(code)
    shown = [cut(line, LONGEST_OUTPUT) for match in matches[:SHOWN] for line in match[0].splitlines()]
    return "".join(f"{line}\n" for line in [*shown, "…"])


def change(case: Case, code: str) -> str:
    """The first hunks of the difference between the input and a valid one, by the folder `fixed` or by a hint that is a
    replacement.
    """
    if case.fixed:
        texts = (difference(file, case.inputs.get(file, ""), text) for file, text in case.fixed.items())
        gone = (difference(file, text, "") for file, text in case.inputs.items() if file not in case.fixed)
        return first_hunks("".join([*texts, *gone]))
    for match in case.diagnostics(code):
        new_word = re.fullmatch(r"did you mean '([^']+)'\?", match["hint"] or "")
        text = case.inputs.get(match["file"], "")
        if new_word is None or not match["line"]:
            continue
        lines = text.split("\n")
        line = lines[int(match["line"]) - 1]
        for word in re.findall(r"'([^']+)'", match["text"]):
            if len(parts := re.split(rf"(?<![\w.-]){re.escape(word)}(?![\w.-])", line)) == 2:
                lines[int(match["line"]) - 1] = new_word[1].join(parts)
                return difference(match["file"], text, "\n".join(lines))
    return ""


def first_hunks(text: str) -> str:
    """A difference without what stands behind the first hunks, as a page shows few diagnostics of a long input."""
    starts = [match.start() for match in re.finditer(r"^@@ ", text, re.MULTILINE)]
    if len(starts) <= MOST_HUNKS:
        return text
    return re.sub(r"(^--- .*\n\+\+\+ .*\n)?\Z", "…\n", text[: starts[MOST_HUNKS]], count=1, flags=re.MULTILINE)


def difference(file: str, text: str, other: str) -> str:
    """The difference of two texts of a file in unified format; '' where there is none."""
    lines = difflib.unified_diff(text.splitlines(), other.splitlines(), file, file, n=2, lineterm="")
    return "".join(f"{cut(line, LONGEST)}\n" for line in lines)


class Documentation:
    """What docs/ says of codes."""

    def __init__(self) -> None:
        self._pages = {
            path.relative_to(ROOT / "docs").as_posix(): path.read_text("utf-8")
            for path in sorted((ROOT / "docs").rglob("*.md"))
        }

    @cached_property
    def causes(self) -> dict[str, list[str]]:
        """By code: an input that has it, and what would come of that, as the tables of docs/errors.md say."""
        causes: dict[str, list[str]] = {}
        for table in re.findall(r"<!-- refusals -->\n(.*?)<!-- /refusals -->", self._pages["errors.md"], re.DOTALL):
            for row in table.splitlines()[2:]:
                cells = [cell.strip().replace("`", "") for cell in row.split("|")[1:-1]]
                for code in _CODE.findall(cells[2]):
                    what_comes = {"the same": "the operator logs it again and again"}.get(cells[1], cells[1])
                    causes.setdefault(code, []).append(f"{cells[0]}: {what_comes}")
        return causes

    @cached_property
    def headings(self) -> dict[str, dict[str, str]]:
        """By code: the page and anchor below which it is named, and the heading."""
        places: dict[str, dict[str, str]] = {}
        for page, text in self._pages.items():
            if page == "errors.md":
                continue
            heading = ""
            for line in _FENCE.sub("", text).splitlines():
                if match := re.fullmatch(r"#+ (.*)", line):
                    heading = match[1]
                for code in _CODE.findall(line):
                    if code in WORDINGS:
                        places.setdefault(code, {}).setdefault(f"{page}#{slug(heading)}", heading.replace("`", ""))
        return places


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


def samples() -> dict[str, Sample]:
    """The sample of every code of which anything is known."""
    cases: dict[str, list[Case]] = {}
    for case in all_cases():
        for code in case.codes():
            cases.setdefault(code, []).append(case)
    docs = Documentation()
    return {code: sample(code, cases.get(code, []), docs) for code in sorted(WORDINGS)}


def sample(code: str, cases: list[Case], docs: Documentation) -> Sample:
    """The sample of a code."""
    pages = dict(list(docs.headings.get(code, {}).items())[:MOST_PAGES])
    causes = tuple(docs.causes.get(code, ()))
    if not cases:
        return Sample(causes=causes, pages=pages)
    best = min(cases, key=lambda case: case.cost(code))
    places = [(match["file"], int(match["line"] or 1)) for match in best.diagnostics(code)[:SHOWN]]
    others = [title(case.name) for case in cases if case is not best and case.name.startswith(code)]
    return Sample(
        title=title(best.name),
        excerpts=tuple(excerpts(best, places)),
        console=f"{best.before}$ {best.command}\n{output_of(best, code)}",
        change=change(best, code),
        causes=causes,
        cases=tuple(others[:MOST_CASES]),
        pages=pages,
    )


def file_text() -> str:
    """The text of pages.json: a line a code."""
    rows = (f'"{code}":{msgspec.json.encode(sample).decode()}' for code, sample in samples().items())
    return "{\n" + ",\n".join(rows) + "\n}\n"


def main() -> int:
    text, path = file_text(), Path(FILE)
    if path.exists() and path.read_text("utf-8") == text:
        return 0
    if "--check" in sys.argv[1:]:
        print(f"{path.relative_to(ROOT)}: stale")
        return 1
    path.write_text(text, "utf-8")
    print(f"{path.relative_to(ROOT)}: rewritten")
    return 0


if __name__ == "__main__":
    sys.exit(main())
