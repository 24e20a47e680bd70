"""The names of licences that SPDX has listed; scripts/make_licences.py writes them."""

from __future__ import annotations

from functools import cache
from pathlib import Path


def spdx_id(licence: str) -> str:
    """The SPDX id that is this text but for case; '' for none."""
    return _ids().get(licence.casefold(), "")


@cache
def _ids() -> dict[str, str]:
    text = Path(__file__).with_name("spdx_ids.txt").read_text("utf-8")
    return {name.casefold(): name for name in text.split()}
