"""No preset has a key without a value, which is what a comma in unquoted text becomes inside of braces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.paths import ROOT

PRESETS = sorted((ROOT / "presets").rglob("*.yaml"))


def empty_keys(value: object, path: str = "") -> Iterator[str]:
    """The paths of keys and items without a value."""
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from empty_keys(item, f"{path}.{key}")
    elif value is None:
        yield path


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.relative_to(ROOT).as_posix())
def test_every_key_has_a_value(preset: Path) -> None:
    documents = list(yaml.safe_load_all(preset.read_text("utf-8")))
    assert documents
    assert list(empty_keys(documents)) == []


def test_a_comma_in_unquoted_text_is_found() -> None:
    assert list(empty_keys(yaml.safe_load("- {why: use another one, change modelClaim}"))) == [".0.change modelClaim"]
