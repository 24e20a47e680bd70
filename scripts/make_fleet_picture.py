#!/usr/bin/env python3
"""Draws the page of a made-up fleet (scripts/make_fleet_page.py) as docs/pictures/fleet.png, for docs/fleet.md. Needs
Chromium on PATH: `python -m scripts.make_fleet_picture`.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from scripts.make_fleet_page import make_page

ROOT: Final = Path(__file__).parent.parent
PICTURE: Final = ROOT / "docs" / "pictures" / "fleet.png"
COUNT: Final = 120
WIDTH: Final = 1200
HEIGHT: Final = 900


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        make_page(COUNT, Path(folder))
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}"]
        page = Path(folder) / "fleet.html"
        command = ["chromium", *options, f"--screenshot={PICTURE}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
