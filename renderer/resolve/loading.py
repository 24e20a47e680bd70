"""The init containers that bring weights into the pod, and the credentials that they or the engine get.

What a loader needs is its preset's data (presets/loaders); here is only how it is put together (contract, section 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from renderer import quantity, template
from renderer.api import Config, Inputs, Spec
from renderer.plan import Body, Container, new_container
from renderer.problems import Findings, Origin
from renderer.records import NamedTuple, Record
from renderer.resolve import images, normal, resources, security
from renderer.resolve.sources import HOME, Weights
from renderer.template import Filler
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


class _Part(NamedTuple):
    """An argument or environment entry of a preset: when it holds (None: always), and its value or what fills it."""

    when: Filler | None
    name: str
    fixed: Any
    filler: Filler | None


class _Grant(NamedTuple):
    """Credentials that go with a source, and when."""

    when: Filler | None
    credentials: Credentials


class _Source(Record):
    """What a loader needs for one kind of source. `granted`: the credentials, where they depend on nothing."""

    envs: tuple[_Part, ...]
    grants: tuple[_Grant, ...]
    granted: Credentials | None


class Loader(Record):
    """A loader preset under RenderConfig, made ready once a run. `sources`: by hub or URI scheme that it serves."""

    name: str
    image: str
    command: tuple[str, ...]
    args: tuple[_Part, ...]
    config_env: tuple[Body, ...]
    resources: Body
    security: Body
    knows_user: bool
    sources: Mapping[str, _Source]


def settings(config: Config, found: Findings) -> None:
    """What is wrong with RenderConfig's `loaders`, each at its place, whether an app has that loader or not."""
    for name, mine in (config.get("loaders") or {}).items():
        at = config.origin("loaders", name)
        for key, form in (("image", "repository"), ("version", "tag")):
            if key in mine:
                images.judge(mine[key], form, at.at(key), found)
        user = resources.Side(mine.get("resources") or {}, at)
        resources.merged(resources.Side({}, at), user, {}, found)
        normal.entries(mine.get("env") or (), at.at("env"), found)


def ready(inputs: Inputs, name: str) -> Loader:
    """The loader preset of that name; what is wrong with RenderConfig's words on it, `settings` says."""
    preset, config = inputs.loaders[name], inputs.config
    secured = preset.get("security") or {}
    mine = config.get("loaders", name) or {}
    image = images.tagged(mine.get("image") or preset["image"], mine.get("version") or preset["version"])
    sources: dict[str, _Source] = {}
    for entry in preset["sources"]:
        grants = tuple(_grant(config, each) for each in entry.get("credentials") or ())
        made = _Source(
            tuple(_part(each, each["name"]) for each in entry.get("envs") or ()),
            grants,
            None if any(each.when for each in grants) else _granted([each.credentials for each in grants]),
        )
        sources |= dict.fromkeys(entry["serves"], made)
    env_at = config.origin("loaders", name, "env")
    return Loader(
        name=name,
        image=images.reference(config, image),
        command=tuple(preset.get("command") or ()),
        args=tuple(_part(each if isinstance(each, dict) else {"value": each}, "") for each in preset.get("args") or ()),
        config_env=tuple(_env(mine.get("env") or (), env_at)),
        resources=_resources(mine.get("resources") or preset.get("resources") or {}),
        security=security.context(secured, read_only=bool(secured.get("readOnlyRoot"))),
        knows_user="user" in secured,
        sources=sources,
    )


def _env(entries: Sequence[Body], origin: Origin) -> Iterator[Body]:
    """The entries, normal; without wrong ones."""
    for entry in entries:
        found = Findings()
        made = normal.entry(entry, origin, found)
        if not found.problems:
            yield made


def _part(entry: Spec, name: str) -> _Part:
    when = template.condition(entry["when"], WORDS) if "when" in entry else None
    filler = template.compiled(entry["value"], WORDS)
    return _Part(when, name, Shared({"name": name, "value": entry["value"]}) if name else entry["value"], filler)


def _grant(config: Config, entry: Spec) -> _Grant:
    secret, optional = _secret(config, entry), entry.get("optional", True)
    env: list[Body] = [_from_secret(each, secret, optional) for each in entry.get("envs") or ()]
    if file := entry.get("file"):
        volume = f"{entry['secret']}-credentials"
        env.append(Shared({"name": file["env"], "value": f"{file['mountPath'].rstrip('/')}/{file['key']}"}))
        mount = Shared({"name": volume, "mountPath": file["mountPath"], "readOnly": True})
        made = Credentials(tuple(env), (mount,), ({"name": volume, "secret": {"secretName": secret}},))
    else:
        made = Credentials(tuple(env))
    return _Grant(template.condition(entry["when"], WORDS) if "when" in entry else None, made)


def _from_secret(entry: Spec, secret: str, optional: bool) -> Body:
    """An environment entry: a key of the Secret, or a value that goes with it."""
    if "value" in entry:
        return Shared({"name": entry["name"], "value": entry["value"]})
    reference = {"name": secret, "key": entry["key"], **({"optional": True} if optional else {})}
    shared: Body = template.shared({"name": entry["name"], "valueFrom": {"secretKeyRef": reference}})
    return shared


def _secret(config: Config, entry: Spec) -> str:
    chosen = config.get("secrets", entry["secret"])
    if isinstance(chosen, Mapping):
        chosen = chosen.get("name")
    return str(chosen or entry.get("name") or f"{entry['secret']}-access-secret")


def _resources(spec: Spec) -> Body:
    """Canonical; without what is no quantity, and without requests where one is above its limit."""
    sides: dict[str, dict[str, str]] = {}
    for side in ("limits", "requests"):
        for name, value in (spec.get(side) or {}).items():
            with suppress(ValueError):
                sides.setdefault(side, {})[name] = quantity.canonical(value)
    limits, requests = sides.get("limits", {}), sides.get("requests", {})
    if any(quantity.nanos(requests[name]) > quantity.nanos(limits[name]) for name in requests.keys() & limits.keys()):
        del sides["requests"]
    shared: Body = template.shared(sides)
    return shared


def credentials(loader: Loader, weights: Weights) -> Credentials:
    """What the source's preset entry says, under RenderConfig's Secret names."""
    source = loader.sources[weights.hub or weights.scheme]
    if source.granted:
        return source.granted
    return _granted([each.credentials for each in source.grants if each.when is None or each.when(weights.words)])


def _granted(grants: Sequence[Credentials]) -> Credentials:
    """All of them as one."""
    if len(grants) == 1:
        return grants[0]
    return Credentials(
        tuple(entry for grant in grants for entry in grant.env),
        tuple(mount for grant in grants for mount in grant.mounts),
        tuple(volume for grant in grants for volume in grant.volumes),
    )


def container(
    loader: Loader, position: int, weights: Weights, runner_env: Sequence[Body], access: Credentials, hardening: str
) -> Container:
    """The init container for the weights of the model at `position`, the main model's being 0."""
    words = weights.words
    env = {entry["name"]: entry for entry in runner_env}
    for entry in loader.config_env:
        env[entry["name"]] = entry
    for when, name, fixed, filler in loader.sources[weights.hub or weights.scheme].envs:
        if when is None or when(words):
            env[name] = {"name": name, "value": str(filler(words))} if filler else fixed
    for entry in access.env:  # Secrets come last, and only where the name is not taken
        env.setdefault(entry["name"], entry)
    args = [
        str(filler(words)) if filler else fixed for when, _, fixed, filler in loader.args if when is None or when(words)
    ]
    return new_container(
        name=f"model-loader-{position}" if position else "model-loader",
        image=loader.image,
        command=loader.command,
        args=tuple(args),
        env=tuple(env.values()),
        resources=loader.resources,
        security={} if hardening == "off" else loader.security,
        mounts=(WRITABLE, *access.mounts),
    )
