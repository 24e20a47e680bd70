"""KV cache outside of accelerators: sizes, words, and what the goldens of errors cannot show."""

from __future__ import annotations

from typing import Any

import pytest

from renderer.diagnostics import NamedSource, Origin
from renderer.resolve.engine import kv_offloading
from renderer.resolve.engine.kv_offloading import KVOffloading
from renderer.resolve.layers import ValueLayer

WHERE = Origin(NamedSource("a test"))
OFFLOADING = KVOffloading("64Gi", "", (), WHERE)


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ([{"requests": {"memory": "16Gi"}}], {"requests": {"memory": "80Gi"}}),
        ([{"requests": {"memory": "16Gi"}}, {"requests": {"memory": "40Gi"}}], {"requests": {"memory": "104Gi"}}),
        (
            [{"requests": {"memory": "1G"}}, {"limits": {"memory": "512Mi", "cpu": 4}}],
            {"requests": {"memory": "69719476736"}, "limits": {"memory": "66048Mi"}},
        ),
        ([{}], {"requests": {"memory": "64Gi"}}),
    ],
)
def test_memory_is_added_to_what_is_asked_for(resources: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    layer = kv_offloading.memory_layer(OFFLOADING, [ValueLayer(value, WHERE) for value in resources])
    assert layer.value == expected


def test_shared_memory_is_added_to_the_last_size() -> None:
    layers = [ValueLayer("2Gi", WHERE), ValueLayer("8Gi", WHERE)]
    assert [layer.value for layer in kv_offloading.shared_memory_layers(OFFLOADING, layers)] == ["72Gi"]
    assert [layer.value for layer in kv_offloading.shared_memory_layers(OFFLOADING, [])] == ["64Gi"]
    assert kv_offloading.shared_memory_layers(OFFLOADING, [ValueLayer("much", WHERE)]) == []
