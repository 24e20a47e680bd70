"""Pickers of replicas in pool mode: a preset of presets/pickers made ready, and what it is told of an engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from renderer import template, yamlio
from renderer.api import Inputs
from renderer.plan import Body
from renderer.problems import Findings, guess
from renderer.records import Record
from renderer.resolve import everypod, images, security
from renderer.resolve.gateways import Door
from renderer.template import Words

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
    ]
)


class Picker(Record):
    """A picker preset under RenderConfig. `group`: of the objects that steer it, `reads`: where it looks for them;
    `label`: of pods, for their engine; `args` and `config` of the WORDS; `more`: fields of its pod.
    """

    name: str
    image: str
    group: str
    reads: tuple[str, ...]
    label: str
    args: Callable[[Words], list[str]]
    config: Callable[[Words], str]
    resources: Body
    pod_security: Body
    security: Body
    more: Body


def named(inputs: Inputs, door: Door, found: Findings) -> str:
    """The picker of a namespace; an error where there is none of that name. Raises Stop."""
    name = str(door.get("picker"))
    if name not in inputs.pickers:
        found.stop("E641", door.at("picker"), name=name, hint=guess(name, list(inputs.pickers)))
    return name


def ready(inputs: Inputs, every: everypod.EveryPod, name: str) -> Picker:
    """The picker preset of that name."""
    preset, config = inputs.pickers[name], inputs.config
    secured = preset.get("security") or {}
    filler = template.compiled(preset["args"], WORDS)
    fixed = [str(each) for each in preset["args"]]
    return Picker(
        name=name,
        image=images.reference(config, images.tagged(preset["image"], preset["version"])),
        group=preset["apiGroup"],
        reads=tuple(preset.get("reads") or (preset["apiGroup"],)),
        label=preset["engineLabel"],
        args=(lambda words: [str(each) for each in filler(words)]) if filler else lambda words: fixed,
        config=lambda words: yamlio.dump(_told(preset["config"], words)),
        resources=template.shared(preset.get("resources") or {}),
        pod_security=template.shared({"seccompProfile": {"type": "RuntimeDefault"}}),
        security=security.context(secured, read_only=bool(secured.get("readOnlyRoot"))),
        more=_more(every),
    )


def _more(every: everypod.EveryPod) -> Body:
    """What RenderConfig gives every pod, but for the service account, since a picker needs its own, and the spread of
    replicas, since it is one.
    """
    made = {key: value for key, value in every.fields.items() if key != "serviceAccountName"}
    if every.tolerations:
        made["tolerations"] = list(every.tolerations)
    return dict(template.shared(made))


def _told(value: Any, words: Words) -> Any:
    """The tree filled, without the items of lists and the maps whose `when` does not hold, and without keys of which
    nothing is known.
    """
    if isinstance(value, dict):
        made = {key: _told(item, words) for key, item in value.items() if key != "when" and _holds(item, words)}
        return {key: item for key, item in made.items() if item != ""}
    if isinstance(value, list):
        return [_told(item, words) for item in value if _holds(item, words)]
    filler = template.compiled(value, WORDS)
    return filler(words) if filler else value


def _holds(value: Any, words: Words) -> bool:
    return not isinstance(value, dict) or "when" not in value or bool(template.condition(value["when"], WORDS)(words))
