"""The init containers that bring weights into the pod, and the credentials that they or the engine get.

What a loader needs is its preset's data (presets/loaders); here is only how it is put together (contract, section 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from renderer import quantity, template
from renderer.api import Config, Inputs, Spec
from renderer.plan import Body, Container
from renderer.problems import Findings
from renderer.resolve import images, normal
from renderer.resolve.sources import HOME, Weights
from renderer.yamlio import Shared

WORDS = frozenset(
    [
        "ModelID",
        "Hub",
        "Filename",
        "Revision",
        "AllowPatterns",
        "IgnorePatterns",
        "Scheme",
        "Bucket",
        "Endpoint",
        "Key",
        "Target",
        "OneFile",
        "Region",
        "Anonymous",
        "SecretAs",
    ]
)
VOLUME = "model-volume"
WRITABLE = Shared({"name": VOLUME, "mountPath": HOME})
READABLE = Shared({"name": VOLUME, "mountPath": HOME, "readOnly": True})


class Credentials(NamedTuple):
    """What gives access to the weights: environment entries, and files mounted from Secrets."""

    env: tuple[Body, ...] = ()
    mounts: tuple[Body, ...] = ()
    volumes: tuple[Body, ...] = ()


def merge_env(*layers: Iterable[Body]) -> tuple[Body, ...]:
    """A later entry replaces by name in place, new names are appended in their order; never a name twice."""
    merged: dict[str, Body] = {}
    for layer in layers:
        for entry in layer:
            merged[entry["name"]] = entry
    return tuple(merged.values())


def loader(
    inputs: Inputs,
    position: int,
    weights: Weights,
    runner_env: Sequence[Body],
    credentials: Credentials,
    hardening: str,
) -> Container:
    """The init container for the weights of the model at `position`, the main model's being 0."""
    name = str(weights.loader)
    preset, mine = inputs.loaders[name], inputs.config.get("loaders", name) or {}
    security = preset.get("security") or {}
    config_env = [
        normal.entry(each, inputs.config.origin("loaders", name, "env"), Findings()) for each in mine.get("env") or ()
    ]
    own_env = [_entry(each, weights) for each in weights.entry.get("envs") or () if _holds(each, weights)]
    # Secrets come last, and only where the name is not taken.
    env = merge_env(runner_env, config_env, own_env)
    taken = {entry["name"] for entry in env}
    return Container(
        name=f"model-loader-{position}" if position else "model-loader",
        image=images.reference(
            inputs.config, images.tagged(mine.get("image") or preset["image"], mine.get("version") or preset["version"])
        ),
        command=tuple(preset.get("command") or ()),
        args=tuple(
            _filled(arg if isinstance(arg, str) else arg["value"], weights)
            for arg in preset.get("args") or ()
            if isinstance(arg, str) or _holds(arg, weights)
        ),
        env=(*env, *(entry for entry in credentials.env if entry["name"] not in taken)),
        resources=_resources(mine.get("resources") or preset.get("resources") or {}),
        security=_security(security, hardening),
        mounts=(WRITABLE, *credentials.mounts),
    )


def _resources(spec: Spec) -> Body:
    """Canonical; RenderConfig's schema has vouched for the quantities."""
    return {
        side: {name: quantity.canonical(value) for name, value in spec[side].items()}
        for side in ("limits", "requests")
        if spec.get(side)
    }


def credentials(config: Config, weights: Weights) -> Credentials:
    """What the source's preset entry says, under RenderConfig's Secret names."""
    env: list[Body] = []
    mounts: list[Body] = []
    volumes: list[Body] = []
    for each in weights.entry.get("credentials") or ():
        if not _holds(each, weights):
            continue
        secret = _secret(config, each)
        optional = {"optional": True} if each.get("optional", True) else {}
        for entry in each.get("envs") or ():
            if "value" in entry:
                env.append(entry)
            else:
                env.append(_from_secret(entry["name"], secret, entry["key"], bool(optional)))
        if file := each.get("file"):
            volume = f"{each['secret']}-credentials"
            env.append({"name": file["env"], "value": f"{file['mountPath'].rstrip('/')}/{file['key']}"})
            mounts.append({"name": volume, "mountPath": file["mountPath"], "readOnly": True})
            volumes.append({"name": volume, "secret": {"secretName": secret}})
    return Credentials(tuple(env), tuple(mounts), tuple(volumes))


_SECRET_ENTRIES: dict[tuple[str, str, str, bool], Body] = {}


def _from_secret(name: str, secret: str, key: str, optional: bool) -> Body:
    known = _SECRET_ENTRIES.get((name, secret, key, optional))
    if known is None:
        reference: dict[str, Any] = {"name": secret, "key": key}
        if optional:
            reference["optional"] = True
        known = _SECRET_ENTRIES[name, secret, key, optional] = template.shared(
            {"name": name, "valueFrom": {"secretKeyRef": reference}}
        )
    return known


def _secret(config: Config, each: Spec) -> str:
    chosen = config.get("secrets", each["secret"])
    if isinstance(chosen, Mapping):
        chosen = chosen.get("name")
    return chosen or each.get("name") or f"{each['secret']}-access-secret"


def _security(security: Spec, hardening: str) -> Body:
    """Nothing when off; else no escalation, and what the loader's preset knows its image to bear."""
    if hardening == "off":
        return {}
    context: dict[str, Any] = {}
    if "user" in security:
        context |= {
            "runAsNonRoot": True,
            "runAsUser": security["user"],
            "runAsGroup": security.get("group", security["user"]),
        }
        context |= {"readOnlyRootFilesystem": True} if security.get("readOnlyRoot") else {}
    context["allowPrivilegeEscalation"] = False
    if "user" in security:
        context["capabilities"] = {"drop": ["ALL"]}
    return Shared(context) if len(context) > 1 else NO_ESCALATION


NO_ESCALATION = Shared({"allowPrivilegeEscalation": False})
_FILLERS: dict[str, Any] = {}


def _filled(text: str, weights: Weights) -> str:
    if "{{" not in text:
        return text
    filler = _FILLERS.get(text)
    if filler is None:
        filler = _FILLERS[text] = template.compiled(text, WORDS) or (lambda words: text)
    return str(filler(weights.words))


def _holds(entry: Spec, weights: Weights) -> bool:
    when = entry.get("when")
    if not when:
        return True
    holds = _FILLERS.get("when " + when)
    if holds is None:
        holds = _FILLERS["when " + when] = template.condition(when, WORDS)
    return bool(holds(weights.words))


_CONSTANT: dict[tuple[str, str], Body] = {}


def _entry(entry: Spec, weights: Weights) -> Body:
    value = entry["value"]
    if "{{" in value:
        return {"name": entry["name"], "value": _filled(value, weights)}
    known = _CONSTANT.get((entry["name"], value))
    if known is None:
        known = _CONSTANT[entry["name"], value] = Shared({"name": entry["name"], "value": value})
    return known
