"""The strategic merge of pods: as the API server does it, and as docs/pods.md says."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from renderer.admission.server_view import server_value
from renderer.diagnostics import Collector, NamedSource, Origin
from renderer.diagnostics import Path as FieldPath
from renderer.kubernetes.api_types import merge_keys
from renderer.kubernetes.strategic_merge import POD_TEMPLATE, SERVER, Merge, MergeRules
from renderer.kubernetes.template_origins import TemplateOrigins
from tests.kubernetes.pod_patches import pod_patches

PAIRS = 600
RECORDED = json.loads(Path(__file__).with_name("server_merges.json").read_text("utf-8"))


def merged(rules: MergeRules, pod: Any, patch: Any) -> Any:
    """The patched spec of a pod; nothing is told."""
    return merge(rules, pod, patch)[0]


def merge(rules: MergeRules, pod: Any, patch: Any) -> tuple[Any, dict[FieldPath, FieldPath]]:
    """The patched spec, and where in the patch its fields are set."""
    origins, diagnostics, origin = TemplateOrigins(), Collector(), Origin(NamedSource("patch"))
    before = copy.deepcopy((pod, patch))
    body = Merge(rules, origins, diagnostics).merge_map(pod, patch, "core.PodSpec", origin, ())
    assert diagnostics.problems == []
    assert (pod, patch) == before
    return body, {path: origin.path for path, origin in origins}


def test_merge_keys() -> None:
    """Lists that a strategic merge merges; what Kubernetes replaces whole is not there."""
    assert merge_keys("core.PodSpec", "containers") == merge_keys("core.Container", "env") == ["name"]
    assert merge_keys("core.Container", "volumeMounts") == ["mountPath"]
    assert merge_keys("core.Container", "ports") == ["containerPort", "protocol"]
    assert merge_keys("core.PodSpec", "topologySpreadConstraints") == ["topologyKey", "whenUnsatisfiable"]
    assert not any(merge_keys(*field) for field in (("core.PodSpec", "tolerations"), ("core.Container", "envFrom")))


@pytest.mark.parametrize("pair", RECORDED)
def test_merges_of_the_server(pair: dict[str, Any]) -> None:
    """`make apiserver-test` asks the server about 2,000 of them, and writes these."""
    assert server_value("core.PodSpec", merged(SERVER, pair["pod"], pair["patch"])) == pair["merged"]


# ---- where docs/pods.md names a difference ----


def by_keys(value: Any) -> Any:
    """The value with lists that merge in the order of their keys: where new items go is a difference of its own."""
    if isinstance(value, dict):
        return {key: by_keys(item) for key, item in value.items()}
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return sorted((by_keys(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    return value


def without_differences(pod: Any, patch: Any) -> Any:
    """The patch without what docs/pods.md merges in another way than the server: variables that are there, volumes
    with another source, ports of a number and spread constraints of a topology that is there twice.
    """
    patch = copy.deepcopy(patch)
    volumes = {volume["name"]: volume for volume in pod.get("volumes", ())}
    patch["volumes"] = [
        volume for volume in patch.get("volumes", ()) if volume.keys() <= volumes.get(volume["name"], volume).keys()
    ]
    for key in ("containers", "initContainers"):
        containers = {container["name"]: container for container in pod[key]}
        for container in patch[key]:
            before = containers.get(container["name"], {})
            variables = {variable["name"] for variable in before.get("env", ())}
            ports = {port["containerPort"] for port in before.get("ports", ())}
            for field, name, known in (("env", "name", variables), ("ports", "containerPort", ports)):
                if field in container:
                    items = {item[name]: item for item in container[field] if item[name] not in known}
                    container[field] = [*items.values()]
    topologies = {constraint["topologyKey"] for constraint in pod.get("topologySpreadConstraints", ())}
    if "topologySpreadConstraints" in patch:
        constraints = patch["topologySpreadConstraints"]
        own = {item["topologyKey"]: item for item in constraints if item["topologyKey"] not in topologies}
        patch["topologySpreadConstraints"] = [*own.values()]
    return patch


def test_equal_where_no_difference_is_named() -> None:
    changed = 0
    for pod, full_patch in pod_patches(PAIRS, seed=1):
        patch = without_differences(pod, full_patch)
        body = merged(POD_TEMPLATE, pod, patch)
        assert by_keys(body) == by_keys(merged(SERVER, pod, patch)), json.dumps([pod, patch])
        changed += body != pod
    assert changed > PAIRS // 2


def named(value: Any, *fields: str) -> list[Any]:
    """Of each item those fields."""
    return [tuple(item.get(field) for field in fields) if fields[1:] else item[fields[0]] for item in value]


PORTS = [{"containerPort": 80, "protocol": protocol} for protocol in ("TCP", "UDP")]
SPREAD = {"topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}
EMPTY = {"name": "a", "emptyDir": {}}
SECRET = {"name": "a", "secret": {"secretName": "b"}}
POD = {
    "containers": [{"name": "a", "ports": PORTS, "env": [{"name": "A", "value": "1"}]}],
    "topologySpreadConstraints": [SPREAD],
    "volumes": [EMPTY, {**EMPTY, "name": "b"}],
}


def test_order() -> None:
    """docs/pods.md: a new item stands at the end."""
    patch = {"volumes": [{**SECRET, "name": "c"}, {**EMPTY, "name": "b"}]}
    assert named(merged(POD_TEMPLATE, POD, patch)["volumes"], "name") == ["a", "b", "c"]
    assert named(merged(SERVER, POD, patch)["volumes"], "name") == ["c", "a", "b"]


def test_ports() -> None:
    """docs/pods.md: by number and protocol."""
    patch = {"containers": [{"name": "a", "ports": [{**PORTS[1], "name": "dns"}]}]}
    ours, servers = (merged(rules, POD, patch)["containers"][0]["ports"] for rules in (POD_TEMPLATE, SERVER))
    assert named(ours, "protocol", "name") == [("TCP", None), ("UDP", "dns")]
    assert named(servers, "protocol", "name") == [("UDP", "dns"), ("UDP", None)]


def test_spread_constraints() -> None:
    """docs/pods.md: by topology and what is done when there is no place."""
    patch = {"topologySpreadConstraints": [{"topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway"}]}
    ours, servers = (merged(rules, POD, patch)["topologySpreadConstraints"] for rules in (POD_TEMPLATE, SERVER))
    assert ours == [SPREAD, patch["topologySpreadConstraints"][0]]
    assert servers == [{**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}]


def test_variables() -> None:
    """docs/pods.md: each entry whole."""
    variable = {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    patch = {"containers": [{"name": "a", "env": [variable]}]}
    ours, servers = (merged(rules, POD, patch)["containers"][0]["env"] for rules in (POD_TEMPLATE, SERVER))
    assert ours == [variable]
    assert servers == [{**variable, "value": "1"}]


def test_volumes() -> None:
    """docs/pods.md: another source replaces the old one."""
    ours, servers = (merged(rules, POD, {"volumes": [SECRET]})["volumes"] for rules in (POD_TEMPLATE, SERVER))
    assert ours[0] == SECRET
    assert servers[0] == {**EMPTY, **SECRET}


def test_mounts() -> None:
    """docs/pods.md: a slash at the end of the path says nothing."""
    pod = {"containers": [{"name": "a", "volumeMounts": [{"mountPath": "/a/", "name": "a"}]}]}
    patch = {"containers": [{"name": "a", "volumeMounts": [{"mountPath": "/a", "name": "b"}]}]}
    ours, servers = (merged(rules, pod, patch)["containers"][0]["volumeMounts"] for rules in (POD_TEMPLATE, SERVER))
    assert named(ours, "name") == ["b"]
    assert named(servers, "name") == ["b", "a"]


@pytest.mark.parametrize("rules", [SERVER, POD_TEMPLATE])
def test_a_field_stands_where_the_patch_sets_it(rules: MergeRules) -> None:
    """The origin of each field leads to its value in the patch, wherever its items are moved to."""
    checked = 0
    for pod, patch in pod_patches(PAIRS // 4, seed=2):
        body, places = merge(rules, pod, patch)
        for path, place in places.items():
            value, written = at(body, path), at(patch, place)
            if not isinstance(value, (dict, list)):
                assert value == written, (path, place)
                checked += 1
    assert checked > 1000


def at(value: Any, path: FieldPath) -> Any:
    for part in path:
        value = value[part]
    return value
