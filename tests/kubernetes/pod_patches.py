"""Made-up pods and patches of them, from few names, so that most patches meet what is there."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

Body: TypeAlias = dict[str, Any]
Chance: TypeAlias = random.Random
_Maker: TypeAlias = Callable[[Chance], Any]

_SOURCES: Final[Mapping[str, tuple[Body, ...]]] = {
    "v1": ({"emptyDir": {}}, {"emptyDir": {"medium": "Memory"}}, {"emptyDir": {"sizeLimit": "1Gi"}}),
    "v2": ({"configMap": {"name": "a", "optional": True}}, {"configMap": {"items": [{"key": "k", "path": "p"}]}}),
    "v3": ({"secret": {"secretName": "a"}}, {"secret": {"secretName": "b", "optional": True}}, {"emptyDir": {}}),
    "v4": ({"persistentVolumeClaim": {"claimName": "a"}}, {"persistentVolumeClaim": {"claimName": "b"}}),
}
"""The sources of volumes by their names: of most one source, since the server refuses two."""
_HANDLERS: Final[tuple[Body, ...]] = (
    {"httpGet": {"path": "/health", "port": 80}},
    {"httpGet": {"path": "/ready", "port": "http", "httpHeaders": [{"name": "a", "value": "b"}]}},
    {"httpGet": {"path": "/", "port": 80, "scheme": "HTTPS"}},
    {"httpGet": {"path": "/", "port": 80, "host": "a"}},
    {"httpGet": {"path": "/health", "port": 81}},
    {"tcpSocket": {"port": 81}},
)


def _some(chance: Chance, makers: Mapping[str, _Maker], share: float) -> Body:
    """Some of the fields."""
    return {field: make(chance) for field, make in makers.items() if chance.random() < share}


def _items(make: _Maker, most: int, keys: int = 1) -> _Maker:
    """A list of one to `most` items, no two of which agree in so many fields, their first."""

    def items(chance: Chance) -> list[Body]:
        drawn = [make(chance) for _ in range(chance.randint(1, most))]
        return [*{tuple(item.items())[:keys]: item for item in drawn}.values()]

    return items


def _one_of(*values: Any) -> _Maker:
    return lambda chance: chance.choice(values)


def _variable(chance: Chance) -> Body:
    reference = {"fieldRef": {"fieldPath": chance.choice(("status.podIP", "metadata.name"))}}
    content = {"value": chance.choice(("1", "2", "$(A)"))} if chance.random() < 0.9 else {"valueFrom": reference}
    return {"name": chance.choice("ABCD"), **content}


def _port(chance: Chance) -> Body:
    keys = {"containerPort": chance.choice((80, 81, 443)), "protocol": chance.choice(("TCP", "UDP"))}
    return {**keys, **_some(chance, {"hostIP": _one_of("::1")}, 0.2)}


def _mount(chance: Chance) -> Body:
    more = _some(chance, {"subPath": _one_of("x", "y"), "readOnly": _one_of(True, False)}, 0.4)
    return {"mountPath": chance.choice(("/a", "/b", "/c")), "name": chance.choice(("v1", "v2")), **more}


def _volume(chance: Chance) -> Body:
    name = chance.choice([*_SOURCES])
    return {"name": name, **chance.choice(_SOURCES[name])}


def _probe(chance: Chance) -> Body:
    numbers: Mapping[str, _Maker] = dict.fromkeys(
        ("periodSeconds", "failureThreshold", "timeoutSeconds"), _one_of(3, 5)
    )
    return {**chance.choice(_HANDLERS), **_some(chance, numbers, 0.4)}


def _resources(chance: Chance) -> Body:
    amounts = {"cpu": _one_of("2", "4"), "memory": _one_of("4Gi", "8Gi")}
    return {"limits": _some(chance, amounts, 0.7), "requests": _some(chance, {"cpu": _one_of("1")}, 0.5)}


_CONTAINER: Final[Mapping[str, _Maker]] = {
    "image": _one_of("a:v1", "b:v2"),
    "args": _one_of(["--a"], ["--b", "c"], []),
    "command": _one_of(["run"], ["sh", "-c"]),
    "env": _items(_variable, 4),
    "envFrom": _one_of([{"configMapRef": {"name": "a"}}], [{"secretRef": {"name": "b"}, "prefix": "P_"}]),
    "ports": _items(_port, 4, keys=2),
    "volumeMounts": _items(_mount, 3),
    "resources": _resources,
    "readinessProbe": _probe,
    "livenessProbe": _probe,
    "lifecycle": _one_of({"preStop": {"exec": {"command": ["a"]}}}, {"postStart": {"sleep": {"seconds": 1}}}),
    "securityContext": _one_of({"runAsUser": 5}, {"capabilities": {"drop": ["ALL"]}}, {"runAsNonRoot": True}),
    "imagePullPolicy": _one_of("Always", "IfNotPresent"),
    "workingDir": _one_of("/a", "/b"),
}


def _containers(chance: Chance, names: str, share: float, most: int) -> list[Body]:
    containers = [{"name": name, **_some(chance, _CONTAINER, share)} for name in names]
    return chance.sample(containers, chance.randint(1, min(most, len(names))))


def _spread(chance: Chance) -> Body:
    more = _some(
        chance, {"labelSelector": _one_of({"matchLabels": {"a": "b"}}), "nodeTaintsPolicy": _one_of("Honor")}, 0.3
    )
    when = {"whenUnsatisfiable": chance.choice(("DoNotSchedule", "ScheduleAnyway"))}
    return {"topologyKey": chance.choice(("zone", "host")), **when, "maxSkew": chance.choice((1, 2)), **more}


_SPEC: Final[Mapping[str, _Maker]] = {
    "imagePullSecrets": _items(lambda chance: {"name": chance.choice("abc")}, 3),
    "hostAliases": _items(
        lambda chance: {"ip": chance.choice(("10.0.0.1", "10.0.0.2")), "hostnames": [chance.choice("ab")]}, 2
    ),
    "topologySpreadConstraints": _items(_spread, 3, keys=2),
    "tolerations": _one_of([{"key": "a", "operator": "Exists"}], [{"key": "b", "value": "c", "effect": "NoSchedule"}]),
    "nodeSelector": _one_of({"disk": "ssd"}, {"disk": "hdd", "gpu": "a100"}, {"zone": "a"}),
    "securityContext": _one_of({"runAsUser": 1}, {"fsGroup": 2, "sysctls": [{"name": "a", "value": "b"}]}, {}),
    "terminationGracePeriodSeconds": _one_of(5, 30, 60),
    "automountServiceAccountToken": _one_of(True, False),
    "hostNetwork": _one_of(True, False),
    "dnsConfig": _one_of({"nameservers": ["10.0.0.1"]}, {"searches": ["a"], "options": [{"name": "ndots"}]}),
    "resourceClaims": _items(
        lambda chance: {"name": chance.choice("ab"), "resourceClaimTemplateName": chance.choice(("c", "d"))}, 2
    ),
    "schedulingGates": _items(lambda chance: {"name": chance.choice("ab")}, 2),
    "affinity": _one_of(
        {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
        {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]
                }
            }
        },
    ),
    "volumes": _items(_volume, 3),
}


def pod_patches(count: int, seed: int = 0) -> Iterator[tuple[Body, Body]]:
    """So many specs of pods, each with a patch of it; the same every time."""
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")
        pod = _some(chance, _SPEC, 0.5)
        others = [volume for volume in pod.get("volumes", ()) if volume["name"] not in ("v1", "v2")]
        mounted: list[Body] = [{"name": "v1", **chance.choice(_SOURCES["v1"])}, {"name": "v2", **_SOURCES["v2"][0]}]
        pod["volumes"] = [*mounted, *others]
        patch = _some(chance, _SPEC, 0.25)
        for field, names, more in (("containers", "abc", {}), ("initContainers", "de", {"restartPolicy": "Always"})):
            pod[field] = [{"image": "a:v1", **more, **item} for item in _containers(chance, names, 0.5, 3)]
            known = {item["name"] for item in pod[field]}
            part = _containers(chance, names, 0.2, 2)
            patch[field] = [item if item["name"] in known else {"image": "new:v1", **more, **item} for item in part]
        yield pod, patch
