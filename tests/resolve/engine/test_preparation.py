"""The hash that restarts a pod when its files change."""

from __future__ import annotations

import pytest

from renderer.resolve.engine.preparation import config_hash


def test_the_order_of_the_files_is_nothing() -> None:
    assert config_hash({"a": "1", "b": "2"}) == config_hash({"b": "2", "a": "1"})


@pytest.mark.parametrize("other", [{}, {"a": "1"}, {"a": "1", "b": "3"}, {"a": "12", "b": ""}, {"ab": "1", "": "2"}])
def test_anything_else_changes_it(other: dict[str, str]) -> None:
    assert config_hash(other) != config_hash({"a": "1", "b": "2"})
    assert len(config_hash(other)) == 16
