"""Pickers of pool mode: a preset of presets/pickers, compiled, and its configuration for an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from renderer import template, yamlio
from renderer.api import Inputs, RenderConfig
from renderer.diagnostics import Collector, Origin, suggestion
from renderer.kubernetes.json_values import maps_at
from renderer.plan import Body, Container
from renderer.resolve import pod_defaults
from renderer.resolve.context import RunContext
from renderer.resolve.engine.ports import container_port
from renderer.resolve.gateway.settings import GatewaySettings
from renderer.resolve.kube import images
from renderer.resolve.layers import merge_items
from renderer.resolve.pod import hardening
from renderer.template import Words

if TYPE_CHECKING:
    from renderer.input_types import PickerSpec, SecuritySpec, SidecarSpec

WORDS = frozenset(
    [
        "Pool",
        "Namespace",
        "Engine",
        "MetricsPath",
        "Waiting",
        "Running",
        "KVUsage",
        "Adapters",
        "CacheInfo",
        "CacheBlockSize",
        "CacheBlocks",
        "QueueSeconds",
    ]
)


_SIDECAR_WORDS = frozenset(["Port", "EnginePort", "Connector", "RankPorts"])
_SIDECAR = "routing-sidecar"
_PROXY = "proxy"  # its port, whose number is that of the engines of the role prefill


class RolePicking(Struct, frozen=True, eq=False):
    """How a picker sends a request to both roles."""

    role_label: str  # of pods
    arg_count: int  # the arguments of the sidecar before those for the ports of ranks
    sidecar: Callable[[Words], Container]  # answers for the engine in pods of the role decode; of the _SIDECAR_WORDS


class Picker(Struct, frozen=True, eq=False):
    """A compiled picker preset."""

    name: str
    origin: Origin  # of its `spec`
    image: str
    group: str  # the API group of the objects that steer it
    watched_groups: tuple[str, ...]  # the API groups that it watches
    engine_label: str  # the label of pods that names their engine
    args: Callable[[Words], Sequence[str]]  # of the WORDS
    config: Callable[[Words, bool], str]  # of the WORDS, and whether pods have roles
    resources: Body
    pod_security: Body
    security: Body
    pod_fields: Body  # further fields of its pod spec, from RenderConfig
    reads_all_ports: bool  # each target port of a pool's pod is a choice of its own, else only the first is known
    disaggregation: RolePicking | None  # None where it knows no roles


def picker_name(inputs: Inputs, gateway_settings: GatewaySettings, diagnostics: Collector) -> str:
    """The name of the picker of a namespace. Raises Stop, with an error, where no preset has this name."""
    name = str(gateway_settings.get("picker"))
    if name not in inputs.pickers:
        diagnostics.stop("E641", gateway_settings.at("picker"), name=name, hint=suggestion(name, list(inputs.pickers)))
    return name


def find_picker(context: RunContext, name: str) -> Picker:
    """The compiled picker preset of that name; cached."""
    picker = context.pickers.get(name)
    if picker is None:
        picker = context.pickers[name] = read_picker(context.inputs, context.pod_defaults, name)
    return picker


def read_picker(inputs: Inputs, defaults: pod_defaults.PodDefaults, name: str) -> Picker:
    """The compiled picker preset of that name."""
    document, config = inputs.pickers[name], inputs.config
    preset = document.value["spec"]
    security_spec = preset.get("security", {})
    filler = template.compile_template(preset["args"], WORDS)
    fixed = [str(arg) for arg in preset["args"]]
    return Picker(
        name=name,
        origin=document.origin("spec"),
        image=images.image_reference(config, images.with_tag(preset["image"], preset["version"])),
        group=preset["apiGroup"],
        watched_groups=tuple(preset.get("reads") or (preset["apiGroup"],)),
        engine_label=preset["engineLabel"],
        args=template.strings_filler(filler) if filler else lambda words: fixed,
        config=lambda words, has_roles: yamlio.dump(_fill(_config(preset, words, has_roles), words)),
        resources=template.share_maps(preset.get("resources") or {}),
        pod_security=template.share_maps({"seccompProfile": {"type": "RuntimeDefault"}}),
        security=hardening.security_context(security_spec, read_only=bool(security_spec.get("readOnlyRoot"))),
        pod_fields=_pod_fields(defaults),
        reads_all_ports=reads_all_ports(preset),
        disaggregation=_role_picking(config, preset),
    )


def _role_picking(config: RenderConfig, preset: PickerSpec) -> RolePicking | None:
    spec = preset.get("disaggregation")
    if spec is None:
        return None
    sidecar = spec["sidecar"]
    return RolePicking(spec["roleLabel"], len(sidecar["args"]), lambda words: _sidecar(config, sidecar, words))


def _sidecar(config: RenderConfig, spec: SidecarSpec, words: Words) -> Container:
    templates = [*spec["args"], *(spec.get("rankArgs") or () if words["RankPorts"] else ())]
    filler = template.compile_template(templates, _SIDECAR_WORDS)
    args = template.strings_filler(filler)(words) if filler else templates
    security: SecuritySpec = cast("SecuritySpec", spec.get("security") or {})
    return Container(
        name=_SIDECAR,
        image=images.image_reference(config, images.with_tag(spec["image"], spec["version"])),
        args=tuple(args),
        ports=tuple([_proxy_port(words, rank) for rank in range(int(str(words["RankPorts"])) or 1)]),
        resources=template.share_maps(spec.get("resources") or {}),
        security_context=hardening.security_context(security, read_only=bool(security.get("readOnlyRoot"))),
        rest={"restartPolicy": "Always"},
    )


def _proxy_port(words: Words, rank: int) -> Body:
    """The port of the sidecar in front of this data parallel rank."""
    name = f"{_PROXY}-{rank}" if rank else _PROXY
    return container_port(name, int(str(words["Port"])) + rank)


def reads_all_ports(preset: PickerSpec) -> bool:
    """Whether a picker preset makes a choice of each target port."""
    return preset.get("targetPorts") == "all"


def _config(preset: PickerSpec, words: Words, has_roles: bool) -> dict[str, object]:
    """The configuration of the preset, with flow control where requests are to be held, and with a profile for each
    role where pods have them.
    """
    holds = words["QueueSeconds"] and "flowControl" in preset
    config = {**preset["config"], **(preset["flowControl"]["config"] if holds else {})}
    if has_roles and (roles := preset.get("disaggregation")):
        usual = maps_at(config, "schedulingProfiles")[0]
        config["plugins"] = [*roles["plugins"], *maps_at(config, "plugins")]
        config["schedulingProfiles"] = [
            {**usual, **profile, "plugins": [*profile["plugins"], *maps_at(usual, "plugins")]}
            for profile in roles["profiles"]
        ]
    return config


def _pod_fields(defaults: pod_defaults.PodDefaults) -> Body:
    """RenderConfig's fields for all pods, without the service account, since a picker has its own, and without
    topology spread constraints, since it has one replica.
    """
    fields = {key: value for key, value in defaults.fields.items() if key != "serviceAccountName"}
    if defaults.tolerations:
        fields["tolerations"] = list(merge_items([defaults.tolerations]).items)
    return dict(template.share_maps(fields))


def _fill(value: object, words: Words) -> object:
    """The configuration with the words filled in, without the items and maps whose `when` is false, and without keys
    whose value is ''.
    """
    if isinstance(value, dict):
        filled = {key: _fill(item, words) for key, item in value.items() if key != "when" and _is_active(item, words)}
        return {key: item for key, item in filled.items() if item != ""}
    if isinstance(value, list):
        return [_fill(item, words) for item in value if _is_active(item, words)]
    filler = template.compile_template(value, WORDS)
    return filler(words) if filler else value


def _is_active(value: object, words: Words) -> bool:
    return (
        not isinstance(value, dict)
        or "when" not in value
        or bool(template.compile_condition(value["when"], WORDS)(words))
    )
