"""Where the tests find this repository, however deep in tests/ they stand."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
