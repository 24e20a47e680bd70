"""How long an engine may take to start."""

from __future__ import annotations

from typing import Any

import pytest

from renderer.resolve.engine.startup_probe import startup_seconds


@pytest.mark.parametrize(
    ("probe", "seconds"),
    [
        ({}, 0),
        ({"httpGet": {}}, 30),  # Kubernetes' defaults: three times, every ten seconds
        ({"periodSeconds": 10, "failureThreshold": 180}, 1800),
        ({"initialDelaySeconds": 20, "periodSeconds": 5, "failureThreshold": 100}, 520),
        ({"periodSeconds": 0, "failureThreshold": 6}, 60),  # 0 stands for the default
    ],
)
def test_startup_seconds(probe: dict[str, Any], seconds: int) -> None:
    assert startup_seconds(probe) == seconds
