#!/usr/bin/env python3
"""Follows every link and anchor of the built site, and says what its pages would load from another host; exit 1 when
a link leads nowhere or something would be loaded: `scripts/check_site.py build/site/html`.

Links to other sites are not asked. The reader is Python's own, not that of the program which built the pages.
"""

from __future__ import annotations

import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from renderer.diagnostics.addresses import SITE

LOADING: Final = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "video": "src"}
NAMING: Final = {"canonical", "alternate", "prev", "next"}  # relations of <link> that load nothing


class PageReader(HTMLParser):
    """Reads the anchors of a page, its links, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.resources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.anchors |= {attributes[name] for name in ("id", "name") if name in attributes}
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag in LOADING and LOADING[tag] in attributes and attributes.get("rel") not in NAMING:
            self.resources.append(attributes[LOADING[tag]])


def read_page(path: Path) -> PageReader:
    """The anchors, links and resources of a page."""
    reader = PageReader()
    reader.feed(path.read_text("utf-8"))
    return reader


def target_of(site: Path, page: Path, link: str) -> tuple[Path, str] | None:
    """The file and the anchor that a link leads to; None for another site."""
    parts, root = urlsplit(link), urlsplit(SITE)
    if (parts.scheme, parts.netloc) not in (("", ""), (root.scheme, root.netloc)):
        return None
    is_absolute = parts.path.startswith("/")
    relative = unquote(parts.path.removeprefix(root.path).lstrip("/") if is_absolute else parts.path)
    path = Path(os.path.normpath((site if is_absolute else page.parent) / relative)) if parts.path else page
    return (path / "index.html" if path.is_dir() else path), unquote(parts.fragment)


def faults(site: Path) -> tuple[list[str], int]:
    """What is wrong with the site, and how many links were followed."""
    pages = {path: read_page(path) for path in sorted(site.rglob("*.html"))}
    lines, count = [], 0
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in page.links + page.resources:
            target = target_of(site, path, link)
            if target is None:
                if link in page.resources and not link.startswith("data:"):
                    lines.append(f"{name}: loads {link}")
                continue
            count += 1
            file, anchor = target
            if not file.exists():
                lines.append(f"{name}: {link}: no such page")
            elif file in pages and anchor not in pages[file].anchors and not anchor.startswith(":~:"):
                lines.append(f"{name}: {link}: no such anchor")
    for path in sorted(site.rglob("*.css")):
        text = path.read_text("utf-8")
        lines += [
            f"{path.relative_to(site)}: loads from another host" for sign in ("url(http", "url(//") if sign in text
        ]
    return lines, count


def main() -> int:
    site = Path(sys.argv[1])
    lines, count = faults(site)
    print(
        "".join(f"{line}\n" for line in lines)
        + f"{count} links of {len(list(site.rglob('*.html')))} pages, {len(lines)} faults"
    )
    return 1 if lines or not count else 0


if __name__ == "__main__":
    sys.exit(main())
