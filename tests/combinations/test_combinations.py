"""Every pair of keys that llmaz takes together means what it says: a covering array over the keys of its input."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from renderer.build import lws, pdb, pool, service
from renderer.plan import Pod
from tests.combinations import commands, rows
from tests.combinations.covering import USUAL, cover, renderable_rows
from tests.combinations.parameters import make_tree
from tests.programs import tool

MORE = int(os.environ.get("COMBINATIONS", "0"))  # rows and trees of the weekly run
ROWS, TREES = MORE or 300, MORE or 8
COMMANDS = 100 if MORE else 0  # trees that other commands are asked about
SHARDS = 8  # of the trees, which several processes may run
OTHERS: Mapping[str, str] = {**USUAL, "gateway": "pool", "template": "volume", "scale": "hpa", "variables": "plain"}


def changes(row: Mapping[str, str]) -> dict[str, str]:
    """What a row says that is not usual."""
    return {name: value for name, value in row.items() if value != USUAL[name]}


def test_every_combination_means_what_it_says(tmp_path: Path) -> None:
    faults: dict[str, Mapping[str, str]] = {}

    def renders(row: Mapping[str, str]) -> bool:
        rendered = rows.render(row, tmp_path)
        for fault in rows.faults(row, rendered):
            faults.setdefault(fault, changes(row))
        return bool(rendered.documents)

    covering = cover(renders, ROWS)
    assert faults == {}
    assert covering.share >= 0.95, len(covering.uncovered)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_tree_means_what_it_says(shard: int, tmp_path: Path) -> None:
    """Several apps, and several namespaces: each is as if it were alone."""
    faults: dict[str, list[dict[str, str]]] = {}

    def renders(tree: Sequence[Mapping[str, str]]) -> bool:
        rendered = rows.render_documents(make_tree(tree), tmp_path)
        for fault in rows.tree_faults(rendered):
            faults.setdefault(fault, [changes(row) for row in tree])
        return bool(rendered.documents)

    trees = [*renderable_rows(renders, TREES // SHARDS, seed=shard)]
    assert faults == {}
    assert len(trees) == TREES // SHARDS


@pytest.mark.parametrize("shard", range(SHARDS if MORE else 2))
def test_other_commands_know_every_tree(shard: int, tmp_path: Path) -> None:
    """`explain` of every field, a chart with other values, node pools, and the same tree with other names."""
    names = [(f"-7{i}", f"-{i}") for i in range(10)]
    trial = tmp_path / "trial"  # a folder of its own: a tree has all that is below its folder
    trial.mkdir()

    def renders(tree: Sequence[Mapping[str, str]]) -> bool:
        return bool(rows.render_documents(make_tree(tree), trial).documents)

    for i, tree in enumerate(renderable_rows(renders, max(2, COMMANDS // SHARDS), seed=100 + shard)):
        folder, other = tmp_path / f"tree-{i}", tmp_path / f"other-{i}"
        folder.mkdir()
        other.mkdir()
        rendered = rows.render_documents(make_tree(tree), folder)
        renamed = rows.render_documents(make_tree(tree, first=70), other)
        faults = [
            *commands.unexplained(rendered, folder),
            *commands.charted_otherwise(rendered, folder, tool("helm")),
            *commands.pooled_wrongly(rendered, folder),
            *commands.named_otherwise(rendered, renamed, names),
        ]
        assert faults == [], [changes(row) for row in tree]


def test_a_usual_row_is_right(tmp_path: Path) -> None:
    rendered = rows.render(OTHERS, tmp_path)
    assert list(rows.faults(OTHERS, rendered)) == []
    assert {"LeaderWorkerSet", "InferencePool", "HorizontalPodAutoscaler"} <= {
        body["kind"] for body in rendered.documents
    }


def _renamed(select: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    return lambda plan, **options: {**select(plan, **options), "app.kubernetes.io/name": "other"}


@pytest.mark.parametrize(
    ("module", "values"), [(pdb, {"scale": "three"}), (pool, {}), (service, {"gateway": "backend"})]
)
def test_a_broken_selector_is_found(
    module: Any, values: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = "lasting_selector" if hasattr(module, "lasting_selector") else "serving_selector"
    monkeypatch.setattr(module, name, _renamed(getattr(module, name)))
    row = {**OTHERS, **values}
    faults = list(rows.faults(row, rows.render(row, tmp_path)))
    assert any("other" in fault for fault in faults), faults


def _change_containers(monkeypatch: pytest.MonkeyPatch, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes all containers of each pod template when it is built."""
    built = lws._pod

    def template(planned: Pod) -> dict[str, Any]:
        body: dict[str, Any] = built(planned)
        for container in (*body["spec"].get("initContainers", ()), *body["spec"]["containers"]):
            change(container)
        return body

    monkeypatch.setattr(lws, "_pod", template)


@pytest.mark.parametrize(
    ("key", "name", "fault"),
    [
        ("env", "MODE", "LeaderWorkerSet app: MODE does not reach the engine"),
        ("volumeMounts", "cache", "LeaderWorkerSet app: nobody mounts the volume cache"),
        ("volumeMounts", "model-volume", "LeaderWorkerSet app: only init containers mount the volume model-volume"),
    ],
)
def test_what_a_container_loses_is_found(
    key: str, name: str, fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def lose(container: dict[str, Any]) -> None:
        if key in container and container["name"] == rows.ENGINE:
            container[key] = [entry for entry in container[key] if entry["name"] != name]

    _change_containers(monkeypatch, lose)
    assert fault in list(rows.faults(OTHERS, rows.render(OTHERS, tmp_path)))


def test_accelerators_beyond_the_flavor_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _change_containers(monkeypatch, lambda container: container.update(resources={"limits": {"nvidia.com/gpu": 2}}))
    fault = "LeaderWorkerSet app: the pod takes 4 of nvidia.com/gpu, and the flavor has {'nvidia.com/gpu': 1}"
    assert fault in list(rows.faults(OTHERS, rows.render(OTHERS, tmp_path)))


def test_a_mount_below_a_read_only_one_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nested = {"name": "model-volume", "mountPath": "/workspace/models/blue"}
    _change_containers(monkeypatch, lambda container: container["volumeMounts"].append(nested))
    fault = "LeaderWorkerSet app: model-runner mounts /workspace/models/blue below the read-only /workspace/models/"
    assert fault in list(rows.faults(OTHERS, rows.render(OTHERS, tmp_path)))


def test_names_given_twice_are_found() -> None:
    pod = {"spec": {"volumes": [{"name": "cache"}, {"name": "cache"}, {"name": "dshm"}]}}
    assert list(rows.names_given_twice(pod, ["weights", "weights"])) == [
        "two volumes are called cache",
        "two claims are called weights",
    ]
