"""The hash that restarts a pod when its files change."""

from __future__ import annotations

import pytest

from renderer.resolve.engine.preparation import hashed


def test_the_order_of_the_files_is_nothing() -> None:
    assert hashed({"a": "1", "b": "2"}) == hashed({"b": "2", "a": "1"})


@pytest.mark.parametrize("other", [{}, {"a": "1"}, {"a": "1", "b": "3"}, {"a": "12", "b": ""}, {"ab": "1", "": "2"}])
def test_anything_else_changes_it(other: dict[str, str]) -> None:
    assert hashed(other) != hashed({"a": "1", "b": "2"})
    assert len(hashed(other)) == 16
