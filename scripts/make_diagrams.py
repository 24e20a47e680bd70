#!/usr/bin/env python3
"""Draws the charts of docs/ as pictures in docs/diagrams, for the site (docs/site.md).

`scripts/make_diagrams.py MERMAID`: MERMAID is mermaid.min.js of the npm package mermaid; Chromium has to be on PATH.
Pictures whose chart is gone are deleted.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.make_site import DOCS, diagram_file

WIDEST = 700  # pixels; a wider chart is drawn from top to bottom
CHART = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = "{startOnLoad: true, htmlLabels: false, flowchart: {htmlLabels: false}, deterministicIds: true}"


def picture(chart: str, mermaid: Path, folder: Path) -> str:
    """The chart as SVG."""
    page = folder / "chart.html"
    page.write_text(
        f'<meta charset="utf-8"><pre class="mermaid">{html.escape(chart)}</pre>'
        f'<script src="{mermaid.resolve().as_uri()}"></script><script>mermaid.initialize({OPTIONS})</script>',
        "utf-8",
    )
    command = ["chromium", "--headless", "--no-sandbox", "--allow-file-access-from-files", "--virtual-time-budget=9000"]
    text = subprocess.run([*command, "--dump-dom", page.as_uri()], capture_output=True, check=True, text=True).stdout
    match = re.search(r"<svg.*?</svg>", text, re.DOTALL)
    size = match and re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', match[0])
    if match is None or size is None:
        raise SystemExit(f"make_diagrams.py: no picture came of\n{chart}")
    svg = re.sub(r'width="100%"', f'width="{float(size[1]):.0f}" height="{float(size[2]):.0f}"', match[0], count=1)
    if float(size[1]) > WIDEST and chart.startswith("flowchart LR"):
        return picture(chart.replace("flowchart LR", "flowchart TB", 1), mermaid, folder)
    return re.sub(r"<br>", "<br/>", svg) + "\n"


def main() -> None:
    charts = [chart for page in sorted(DOCS.rglob("*.md")) for chart in CHART.findall(page.read_text("utf-8"))]
    files = {DOCS / diagram_file(chart): chart for chart in charts}
    (DOCS / "diagrams").mkdir(exist_ok=True)
    for path in (DOCS / "diagrams").glob("*.svg"):
        if path not in files:
            path.unlink()
    with tempfile.TemporaryDirectory() as folder:
        for path, chart in files.items():
            if not path.exists():
                path.write_text(picture(chart, Path(sys.argv[1]), Path(folder)), "utf-8")


if __name__ == "__main__":
    main()
