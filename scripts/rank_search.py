#!/usr/bin/env python3
"""Makes the search of the built site answer with pages before error codes: `scripts/rank_search.py build/site/html`.

The search sorts by field, a hit in a title before one in the path and that before one in the text, and knows no weights
of pages. So here an error's page is one entry that has the code alone as its title, and the path of an entry is the
name of its page: else each code's message, and the word "to" of "How to", would come before what people look for.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

Entry: TypeAlias = Mapping[str, Any]


def ranked(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries as they shall be found; the parts of errors' pages are left out."""
    for entry in entries:
        folder, _, page = entry["location"].partition("/")
        if folder != "errors" or not page:
            yield {**entry, "path": entry["path"][-1:]}
        elif "#" not in page:
            code, _, message = entry["title"].partition(": ")
            yield {**entry, "title": code, "path": ["Errors"], "text": f"<p>{message}</p> {entry['text']}"}


def main() -> None:
    path = Path(sys.argv[1]) / "search.json"
    index = json.loads(path.read_text("utf-8"))
    index["items"] = list(ranked(index["items"]))
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), "utf-8")


if __name__ == "__main__":
    main()
