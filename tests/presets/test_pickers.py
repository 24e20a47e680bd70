"""Rendered configurations of pickers, and command lines of their sidecars, hold nothing unknown to the program.

The module of llm-d-router is not served by the Go proxy, so what it reads stands in tests/data/picker_programs.yaml.
The picker of the Inference Extension reads its configurations itself in `make gateway-test`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import yaml

from renderer import load
from tests.paths import TESTS

PROGRAM: dict[str, Any] = yaml.safe_load((TESTS / "data" / "picker_programs.yaml").read_text("utf-8"))
PLUGINS: dict[str, dict[str, Any]] = PROGRAM["plugins"]
ASKED_ITSELF = "registry.k8s.io/gateway-api-inference-extension/epp"
GOLDENS = [
    path
    for folder in ("cases", "adopted")
    for path in sorted((TESTS / folder).glob("*/expected/**/*.yaml"))
    if "kind: EndpointPickerConfig" in path.read_text("utf-8")
]


def containers(body: Any) -> Iterator[dict[str, Any]]:
    """All containers of an object, at any depth."""
    if isinstance(body, dict):
        for key, value in body.items():
            if key in ("containers", "initContainers"):
                yield from value
            else:
                yield from containers(value)
    elif isinstance(body, list):
        for value in body:
            yield from containers(value)


def pod_labels(body: Any) -> Iterator[dict[str, Any]]:
    """The labels of all pod templates of an object."""
    if isinstance(body, dict):
        if "containers" in body.get("spec", {}):
            yield body["metadata"]["labels"]
        for value in body.values():
            yield from pod_labels(value)
    elif isinstance(body, list):
        for value in body:
            yield from pod_labels(value)


def rendered(path: Any) -> tuple[str, dict[str, Any], list[dict[str, Any]]]:
    """The image of a golden's picker, its configuration, and all objects."""
    files = path.parent.glob("*.yaml") if path.name.startswith("configmap-") else [path]  # a file for each object
    objects = [body for file in sorted(files) for body in yaml.safe_load_all(file.read_text("utf-8")) if body]
    configs = [body["data"]["config.yaml"] for body in objects if "config.yaml" in body.get("data", {})]
    images = [
        container["image"]
        for body in objects
        for container in containers(body)
        if container["image"].startswith((PROGRAM["image"], ASKED_ITSELF))
    ]
    [config] = configs
    return (images or [f"{PROGRAM['image']}:{latest()}"])[0], yaml.safe_load(config), objects


def latest() -> str:
    version: str = list(PROGRAM["versions"])[-1]
    return version


def faults(image: str, config: Mapping[str, Any]) -> list[str]:
    """What the picker of this image would not take."""
    return list(_faults(image.rpartition(":")[2], config))


def _faults(version: str, config: Mapping[str, Any]) -> Iterator[str]:
    if config["apiVersion"] not in PROGRAM["versions"][version]:
        yield f"{version} reads no {config['apiVersion']}"
    yield from (f"key {key}" for key in config if key not in PROGRAM["keys"])
    yield from (f"gate {gate}" for gate in config.get("featureGates", ()) if gate not in PROGRAM["featureGates"])
    yield from (f"flowControl.{key}" for key in config.get("flowControl", ()) if key not in PROGRAM["flowControl"])
    kinds: dict[str, str] = {}
    for plugin in config["plugins"]:
        known = PLUGINS.get(plugin["type"])
        if known is None or plugin["type"] in kinds or set(plugin) - {"type", "parameters"}:
            yield f"plugin {plugin}"
            continue
        kinds[plugin["type"]] = known["is"]
    for plugin in config["plugins"]:
        for path, kind in _parameters(plugin.get("parameters", {}), PLUGINS.get(plugin["type"], {}).get("parameters")):
            if kind not in kinds.values() or kind != kinds.get(path):
                yield f"parameter {path} of {plugin['type']}"
    profiles = {profile["name"]: [entry["pluginRef"] for entry in profile["plugins"]] for profile in _profiles(config)}
    for name, names in profiles.items():
        yield from (
            f"{plugin_name} in profile {name}"
            for plugin_name in names
            if kinds.get(plugin_name) not in ("filter", "scorer", "picker")
        )
        if [kinds.get(plugin_name) for plugin_name in names].count("picker") != 1:
            yield f"profile {name} has not one picker"
    for profile in _profiles(config):
        for entry in profile["plugins"]:
            if set(entry) - {"pluginRef", "weight"} or (kinds.get(entry["pluginRef"]) == "scorer") != (
                "weight" in entry
            ):
                yield f"entry {entry}"
    for source in config.get("dataLayer", {}).get("sources", ()):
        pairs = [
            (source["pluginRef"], "source"),
            *((extractor["pluginRef"], "extractor") for extractor in source["extractors"]),
        ]
        yield from (f"{name} is no {kind}" for name, kind in pairs if kinds.get(name) != kind)
    yield from _role_faults(kinds, profiles)


def _profiles(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    profiles: list[dict[str, Any]] = config["schedulingProfiles"]
    return profiles


def _parameters(value: Any, known: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """What is named where another plugin has to be, with the kind of that; unknown parameters with the kind ''."""
    if isinstance(known, str):
        yield value, known
    elif isinstance(known, list) and isinstance(value, list):
        for item in value:
            yield from _parameters(item, known[0], path)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(known, dict) and key in known:
                yield from _parameters(item, known[key], f"{path}{key}.")
            else:
                yield f"{path}{key}", ""
    elif known is not None:
        yield path, ""


def _role_faults(kinds: Mapping[str, str], profiles: Mapping[str, list[str]]) -> Iterator[str]:
    """What does not fit together of a handler, its decider, its profiles and their filters."""
    if "handler" not in kinds.values():
        if len(profiles) != 1:
            yield f"{len(profiles)} profiles without a handler"
        expected: dict[str, list[str]] = {name: [] for name in profiles}
    else:
        if set(profiles) != {"prefill", "decode"}:
            yield f"profiles {', '.join(profiles)}"
        expected = {role: [name for name, plugin in PLUGINS.items() if plugin.get("role") == role] for role in profiles}
    for name, names in profiles.items():
        if (filters := [plugin_name for plugin_name in names if kinds.get(plugin_name) == "filter"]) != expected[name]:
            yield f"filters of {name}: {', '.join(filters)}"
        if names[: len(filters)] != filters or kinds.get(names[-1]) != "picker":
            yield f"order in {name}"


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: "/".join(path.relative_to(TESTS).parts[1:]))
def test_nothing_is_unknown_to_the_picker(path: Any) -> None:
    image, config, objects = rendered(path)
    if image.startswith(ASKED_ITSELF):
        return
    assert faults(image, config) == []
    roles = {labels.get(PROGRAM["roleLabel"]) for body in objects for labels in pod_labels(body)} - {None}
    handled = any(PLUGINS[plugin["type"]]["is"] == "handler" for plugin in config["plugins"])
    assert roles == ({"prefill", "decode"} if handled else set())
    sidecars = [
        container
        for body in objects
        for container in containers(body)
        if container["image"].startswith(PROGRAM["sidecar"]["image"])
    ]
    assert len(sidecars) == handled
    for sidecar in sidecars:
        assert sidecar["image"].rpartition(":")[2] == image.rpartition(":")[2]
        assert unknown_options(sidecar["args"]) == []


def unknown_options(args: list[str]) -> list[str]:
    options = PROGRAM["sidecar"]["options"]
    pairs = [arg.partition("=")[::2] for arg in args]
    return [
        f"{name}={value}"
        for name, value in pairs
        if name not in options or (options[name] is not None and value not in options[name])
    ]


def test_every_picker_is_met() -> None:
    """Each preset, those with roles with them, and each with KEDA's flow control, in some golden."""
    met = {(image, "disagg" in str(config), "flowControl" in config) for image, config, _ in map(rendered, GOLDENS)}
    presets = [load.preset(f"pickers/{name}").value["spec"] for name in load.preset_names("pickers")]
    images = {f"{spec['image']}:{spec['version']}": "disaggregation" in spec for spec in presets}
    assert {image for image, _, _ in met} == set(images)
    assert {image for image, roles, _ in met if roles} == {image for image, able in images.items() if able}
    assert {image.rpartition(":")[0] for image, _, flow in met if flow} == {PROGRAM["image"], ASKED_ITSELF}


def _remove(kind: str) -> Callable[[dict[str, Any]], object]:
    def change(config: dict[str, Any]) -> None:
        config["plugins"] = [plugin for plugin in config["plugins"] if PLUGINS[plugin["type"]]["is"] != kind]

    return change


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda config: config.update(apiVersion="llm-d.ai/v2"), "v0.11.0 reads no llm-d.ai/v2"),
        (lambda config: config.update(saturation={}), "key saturation"),
        (lambda config: config.update(featureGates=["flow"]), "gate flow"),
        (lambda config: config.update(flowControl={"ttl": "1s"}), "flowControl.ttl"),
        (lambda config: config["plugins"].append({"type": "pd-filter"}), "plugin {'type': 'pd-filter'}"),
        (lambda config: config["plugins"].append({"type": "queue-scorer"}), "plugin {'type': 'queue-scorer'}"),
        (
            lambda config: config["plugins"][2].update(parameters={"label": "role"}),
            "parameter label of prefill-filter",
        ),
        (
            lambda config: config["plugins"][1]["parameters"]["deciders"].update(prefill="always"),
            "parameter always of disagg-profile-handler",
        ),
        (
            lambda config: config["plugins"][-1]["parameters"]["engineConfigs"][0].update(queueSpec="x"),
            "parameter engineConfigs.queueSpec of core-metrics-extractor",
        ),
        (_remove("decider"), "parameter always-disagg-pd-decider of disagg-profile-handler"),
        (_remove("handler"), "2 profiles without a handler"),
        (_remove("picker"), "profile decode has not one picker"),
        (_remove("extractor"), "core-metrics-extractor is no extractor"),
        (lambda config: config["schedulingProfiles"][1].update(name="default"), "profiles prefill, default"),
        (lambda config: config["schedulingProfiles"][1]["plugins"].pop(0), "filters of decode: "),
        (
            lambda config: config["schedulingProfiles"][0]["plugins"][0].update(pluginRef="decode-filter"),
            "filters of prefill: decode-filter",
        ),
        (lambda config: config["schedulingProfiles"][0]["plugins"].reverse(), "order in prefill"),
        (
            lambda config: config["schedulingProfiles"][0]["plugins"].insert(
                1, {"pluginRef": "load-scorer", "weight": 1}
            ),
            "load-scorer in profile prefill",
        ),
        (
            lambda config: config["schedulingProfiles"][0]["plugins"][0].update(weight=2),
            "entry {'pluginRef': 'prefill-filter', 'weight': 2}",
        ),
    ],
)
def test_what_the_picker_would_not_take(change: Callable[[dict[str, Any]], object], fault: str) -> None:
    path = TESTS / "cases" / "example-disaggregation" / "expected" / "llm" / "chat.yaml"
    image, config, _ = rendered(path)
    changed = copy.deepcopy(config)
    change(changed)
    assert fault in faults(image, changed)


def test_what_the_sidecar_would_not_take() -> None:
    assert unknown_options(["--connector=nixlv2", "--kv-connector=nixl", "--port=1"]) == [
        "--connector=nixlv2",
        "--kv-connector=nixl",
    ]


def test_labels_that_filters_read() -> None:
    for name in load.preset_names("pickers"):
        if roles := load.preset(f"pickers/{name}").value["spec"].get("disaggregation"):
            assert roles["roleLabel"] == PROGRAM["roleLabel"]
            assert roles["sidecar"]["image"] == PROGRAM["sidecar"]["image"]
