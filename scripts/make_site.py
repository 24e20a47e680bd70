#!/usr/bin/env python3
"""Writes build/site/docs, from which the site is built (docs/site.md): docs/, with links out of it to the repository at
the release's tag, and pages that are made: of error codes, examples and input kinds.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from renderer import __version__, error_pages
from renderer.diagnostics import addresses
from renderer.diagnostics.wordings import AREA_TITLES, WORDINGS
from renderer.error_pages import ErrorPage, excerpt_title
from renderer.text import escapes
from scripts.input_reference import Examples, kind_markdown, read_kinds, read_versions
from scripts.make_error_pages import slug
from scripts.make_fleet_page import make_page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SITE = ROOT / "build" / "site" / "docs"
EXAMPLES: Final = "examples/README.md"
CODES: Final = (*sorted(WORDINGS), error_pages.INTERNAL_FAULT)
WIDE: Final = "---\nhide:\n  - navigation\n  - toc\n---\n\n"  # front matter of a page with two columns
FENCE: Final = re.compile(r"^(?P<fence>```+)(?P<language>\w*)\n(?P<text>.*?)^(?P=fence)$\n?", re.MULTILINE | re.DOTALL)
# A workflow of GitHub knows where the repository is.
REPOSITORY: Final = addresses.REPOSITORY or (
    f"https://github.com/{os.environ['GITHUB_REPOSITORY']}" if "GITHUB_REPOSITORY" in os.environ else ""
)
COPIES: Final = "repository"  # the folder with copies of files of the repository, where its address is not known
_LINK = re.compile(r"\]\((?P<link>[^)\s]+)\)")
_HEADING = re.compile(r"^(?P<marks>#{1,6}) (?P<heading>.*)$", re.MULTILINE)
# Two columns as GitHub shows them, and as the site does.
_COLUMNS: Final = {
    '<table>\n<tr valign="top"><td>\n': '<div class="beside" markdown>\n<div markdown>\n',
    "</td><td>\n": "</div>\n<div markdown>\n",
    "</td></tr></table>\n": "</div>\n</div>\n",
}
# A picture of a page leads to the page on the site, and the page is made.
_PICTURED: Final = {"pictures/fleet.png": "fleet-example.html"}
_FLEET: Final = 120  # workloads of the example
_PICTURE = re.compile(r"!\[[^\]]*\]\((?P<picture>[^)\s]+)\)")
_CODE_ROW = re.compile(r'^\| <a id="(?P<anchor>\w+)"></a>(?P<code>\w+) \|', re.MULTILINE)


def repository_address(path: Path, page: str) -> str:
    """Where a file or folder is in the repository, at the tag of the release; where the address of the repository is
    not known, a copy of the file, or a list of the folder's files, beside the pages.
    """
    if not REPOSITORY:
        return relative(page, f"{COPIES}/{path.relative_to(ROOT).as_posix()}.txt")
    form = "tree" if path.is_dir() else "blob"
    return f"{REPOSITORY}/{form}/v{__version__}/{path.relative_to(ROOT).as_posix()}"


def site_link(page: str, link: str) -> str:
    """A link of a page of docs/ as it is in the copy."""
    path, _, anchor = link.partition("#")
    if re.match(r"[a-z]+:", link) or not path:
        return link
    target = Path(os.path.normpath(DOCS / Path(page).parent / path))
    anchor = f"#{anchor}" if anchor else ""
    if target == DOCS / "errors.md" and anchor[1:].upper() in CODES:
        return relative(page, f"errors/{anchor[1:].upper()}.md")
    if target == ROOT / EXAMPLES:
        return relative(page, "examples/index.md") + anchor
    if target.parent == ROOT / "examples" and target.is_dir():
        return relative(page, f"examples/{target.name}.md")
    if target.is_relative_to(DOCS):
        return link
    return repository_address(target, page) + (anchor if REPOSITORY else "")


def relative(page: str, target: str) -> str:
    """The link from a page to another."""
    return Path(os.path.relpath(target, Path(page).parent)).as_posix()


def picture_with_page(match: re.Match[str]) -> str:
    """A picture, as a link to the page that it shows where there is one."""
    page = _PICTURED.get(match["picture"])
    return f"[{match[0]}]({page})" if page else match[0]


def outside_of_fences(text: str, change: Callable[[str], str], fence: Callable[[re.Match[str]], str]) -> str:
    """The text with its prose changed by one function, and its fenced blocks by another."""
    parts, end = [], 0
    for match in FENCE.finditer(text):
        parts += [change(text[end : match.start()]), fence(match)]
        end = match.end()
    return "".join([*parts, change(text[end:])])


def site_page(page: str, text: str) -> str:
    """A page of docs/ as it is in the copy."""
    anchors: Counter[str] = Counter()

    def heading(match: re.Match[str]) -> str:
        anchor = slug(match["heading"])
        anchors[anchor] += 1
        number = f"-{anchors[anchor] - 1}" if anchors[anchor] > 1 else ""
        return f"{match['marks']} {match['heading']} {{#{anchor}{number}}}"

    def prose(part: str) -> str:
        part = _LINK.sub(lambda match: f"]({site_link(page, match['link'])})", part)
        part = _PICTURE.sub(picture_with_page, part)
        part = re.sub(r"^<!-- [^\n]* -->\n", "", part, flags=re.MULTILINE)
        for table, columns in _COLUMNS.items():
            part = part.replace(table, columns)
        if page == "errors.md":
            part = _CODE_ROW.sub(r'| <a id="\g<anchor>"></a>[\g<code>](errors/\g<code>.md) |', part)
            part = re.sub(r"^\| E901 \|", "| [E901](errors/E901.md) |", part, flags=re.MULTILINE)
        return _HEADING.sub(heading, part)

    def fence(match: re.Match[str]) -> str:
        if match["language"] != "mermaid":
            return match[0]
        picture = diagram_file(match["text"])
        if not (DOCS / picture).exists():
            raise SystemExit(f"make_site.py: docs/{page} has a chart without its picture: run scripts/make_diagrams.py")
        return f"![Chart: {alternative(match['text'])}]({relative(page, picture)}){{.diagram}}\n"

    return outside_of_fences(text, prose, fence)


def diagram_file(chart: str) -> str:
    """The picture of a chart in Mermaid's language, in docs/."""
    return f"diagrams/{hashlib.sha256(chart.encode()).hexdigest()[:12]}.svg"


def alternative(chart: str) -> str:
    """The labels of a chart, for people who do not see it."""
    labels = (re.sub(r"<br/?>", ", ", label) for label in re.findall(r'"([^"]+)"', chart))
    return re.sub(r"[\[\]]", "", "; ".join(labels))


# Error codes


def fenced(text: str, language: str = "text") -> str:
    """A block of code that holds any text."""
    return escapes.markdown_block(text.rstrip("\n"), language)


def words(text: str) -> str:
    """Text of a message, of which Markdown takes nothing for a sign."""
    return re.sub(r"([\\`*_{}\[\]<>#|!~^&])", lambda match: f"&#{ord(match[1])};", text)


def page_title(page: ErrorPage) -> str:
    """The code and the message, with a sign for each word that is filled in."""
    message = page.sample.title if page.message == "{what}" and page.sample.title else page.message
    return f"{page.code}: {re.sub(r'{[^}]*}', '…', message)}"


def error_markdown(page: ErrorPage) -> Iterator[str]:
    """The page of a code, in blocks."""
    sample = page.sample
    yield f"# {words(page_title(page))}"
    area = f" about {AREA_TITLES[page.area]}" if page.area else ""
    article = "an" if page.severity == "error" else "a"
    yield f"**{page.code}** is {article} {page.severity}{area}. [All codes](../errors.md)"
    yield fenced(page.message, "{.text .wrap}")
    if page.hint:
        yield f"Hint: {words(page.hint)}"
    if sample.causes:
        yield "## Cause"
        yield "\n".join(f"- {words(cause)}" for cause in sample.causes)
    if sample.console:
        yield f"## Example: {words(sample.title)}"
        for excerpt in sample.excerpts:
            yield f"`{excerpt_title(excerpt).replace('`', '')}`"
            yield fenced(excerpt.text, "yaml" if excerpt.file.endswith((".yaml", ".yml")) else "text")
        yield fenced(sample.console, "{.text .wrap}")
    else:
        yield "No small input shows this code: it is about what is around a run, or about very large input."
    if sample.change:
        yield "## Write instead"
        yield fenced(sample.change, "diff")
    if sample.cases:
        yield "## Also seen with"
        yield "\n".join(f"- {words(case)}" for case in sample.cases)
    if sample.pages:
        yield "## Read on"
        yield "\n".join(f"- [{words(heading)}](../{place})" for place, heading in sample.pages.items())


# Examples


def example_rows() -> dict[str, tuple[str, str]]:
    """What each example shows, and what to read in it, as examples/README.md says."""
    text = (ROOT / EXAMPLES).read_text("utf-8")
    rows = re.findall(r"^\| \[([\w-]+)\]\([\w-]+/\) \| (.*?) \| (.*?) \|$", text, re.MULTILINE)
    return {name: (what, reading) for name, what, reading in rows}


def example_files(folder: Path) -> Iterator[str]:
    """Each file of the folder with its name, in blocks."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield f"**`{path.relative_to(folder).as_posix()}`**"
            language = "yaml" if path.suffix in (".yaml", ".yml") else "text"
            yield fenced(path.read_text("utf-8"), language)


def example_markdown(name: str, what: str, reading: str) -> Iterator[str]:
    """The page of an example: input beside output."""
    folder = ROOT / "examples" / name
    yield WIDE.strip()
    address = repository_address(folder, f"examples/{name}.md")
    yield f"# Example: {name}"
    yield f"{what[:1].upper()}{what[1:]}. [All examples](index.md), [in the repository]({address})"
    yield f"To read in it: {reading}"
    yield '<div class="beside" markdown>'
    yield "<div markdown>\n\n## You write {#input}"
    yield from example_files(folder)
    yield "</div>\n<div markdown>\n\n## Argo CD or Flux sync {#output}"
    yield from example_files(ROOT / "tests" / "cases" / f"example-{name}" / "expected")
    yield "</div>\n</div>"


def example_list() -> Iterator[str]:
    """The page of all examples."""
    yield "# Examples"
    yield "Each is a folder of the repository that stands alone; its page shows the input beside what is rendered."
    rows = ["| example | what it shows |", "|---|---|"]
    rows += [f"| [{name}]({name}.md) | {what} |" for name, (what, _) in example_rows().items()]
    yield "\n".join(rows)


def write_copies() -> None:
    """Writes the copies to which the pages lead."""
    links = {
        link
        for path in SITE.rglob("*.md")
        for link in re.findall(rf"\]\((?:\.\./)*{COPIES}/([^)]+)\.txt\)", path.read_text("utf-8"))
    }
    for link in links:
        source, copy = ROOT / link, SITE / COPIES / f"{link}.txt"
        copy.parent.mkdir(parents=True, exist_ok=True)
        names = subprocess.run(["git", "ls-files", link], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        copy.write_text(names if source.is_dir() else source.read_text("utf-8"), "utf-8")


def write(page: str, blocks: Iterator[str]) -> None:
    """Writes a page that is made."""
    path = SITE / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(blocks) + "\n", "utf-8")


def main() -> None:
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(DOCS, SITE)
    shutil.copy(ROOT / "scripts" / "site.css", SITE)
    for path in SITE.rglob("*.md"):
        page = path.relative_to(SITE).as_posix()
        head = WIDE if page == "index.md" else ""
        path.write_text(head + site_page(page, path.read_text("utf-8")), "utf-8")
    for code in CODES:
        write(f"errors/{code}.md", error_markdown(error_pages.error_page(code)))
    for name, (what, reading) in example_rows().items():
        write(f"examples/{name}.md", example_markdown(name, what, reading))
    write("examples/index.md", example_list())
    kinds, versions = read_kinds(), read_versions()
    examples = Examples(kinds.values())
    for name, kind in kinds.items():
        write(f"reference/{name}.md", kind_markdown(kind, name, versions[kind.name], examples))
    write_copies()
    with tempfile.TemporaryDirectory() as folder:
        make_page(_FLEET, Path(folder))
        shutil.copy(Path(folder) / "fleet.html", SITE / "fleet-example.html")


if __name__ == "__main__":
    main()
