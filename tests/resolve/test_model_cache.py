"""Names and sizes of caches."""

from __future__ import annotations

import pytest

from renderer.diagnostics import NamedSource, Origin
from renderer.kubernetes.json_values import value_at
from renderer.plan import Body
from renderer.resolve.model_cache import claim_template, fitting_name
from renderer.resolve.weight_sources import ModelCache

HERE = Origin(NamedSource("a.yaml"))


@pytest.mark.parametrize(
    ("name", "suffix", "expected"),
    [
        ("blue", "-fill-0a1b2c3d", "blue-fill-0a1b2c3d"),
        ("a" * 49, "-fill-0a1b2c3d", "a" * 49 + "-fill-0a1b2c3d"),
        ("a" * 50, "-fill-0a1b2c3d", "a" * 40 + "-160b4e43-fill-0a1b2c3d"),
    ],
)
def test_names_that_fit(name: str, suffix: str, expected: str) -> None:
    assert fitting_name(name, suffix) == expected
    assert len(expected) <= 63


def test_long_names_stay_different() -> None:
    assert fitting_name("a" * 70 + "b") != fitting_name("a" * 70 + "c")
    assert fitting_name("a" * 53 + "-" + "b" * 20)[52:54] == "a-"  # not two dashes


@pytest.mark.parametrize(
    ("sizes", "total"),
    [(["10Gi"], "10Gi"), (["10Gi", "1Ti"], "1034Gi"), (["10Gi", "1Mi"], "11Gi"), (["1500M", "1500M"], "3Gi")],
)
def test_one_claim_for_several_models(sizes: list[str], total: str) -> None:
    def cache(size: str) -> ModelCache:
        spec: Body = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
        return ModelCache("perPod", "folder", HERE, spec)

    template = claim_template("model-volume", [*map(cache, sizes)])
    assert value_at(template, "spec", "resources", "requests", "storage") == total
