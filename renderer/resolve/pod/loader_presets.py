"""The init containers that bring weights into the pod, and the credentials that they or the engine get.

What a loader needs is its preset's data (presets/loaders); here is only how it is put together
(docs/design/contract.md#names-in-the-pod).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct

from renderer import quantity, template
from renderer.api import Inputs, RenderConfig, Spec
from renderer.diagnostics import Collector, Origin, Path
from renderer.plan import Body, Container
from renderer.resolve.kube import api_defaults, images, resources
from renderer.resolve.layers import ValueLayer, replacements
from renderer.resolve.pod import security
from renderer.resolve.weight_sources import MODELS_FOLDER, Weights
from renderer.template import Filler
from renderer.yamlio import SharedMap

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
WRITABLE = SharedMap({"name": VOLUME, "mountPath": MODELS_FOLDER})
_NO_ORIGINS: Mapping[Path, Origin] = {}
READABLE = SharedMap({"name": VOLUME, "mountPath": MODELS_FOLDER, "readOnly": True})


class Credentials(Struct, frozen=True):
    """What gives access to the weights: environment entries, and files mounted from Secrets. `origins`: of each entry's
    fields.
    """

    env: tuple[Body, ...] = ()
    origins: tuple[Mapping[Path, Origin], ...] = ()
    mounts: tuple[Body, ...] = ()
    volumes: tuple[Body, ...] = ()


class _Part(Struct, frozen=True):
    """An argument or environment entry of a preset: when it holds (None: always), its value or what fills it, and where
    it stands: the origin of all of its fields.
    """

    when: Filler | None
    name: str
    fixed: Any
    filler: Filler | None
    origins: Mapping[Path, Origin]


class _Grant(Struct, frozen=True):
    """Credentials that go with a source, and when."""

    when: Filler | None
    credentials: Credentials


class _Source(Struct, frozen=True, eq=False):
    """What a loader needs for one kind of source. `granted`: the credentials, where they depend on nothing."""

    envs: tuple[_Part, ...]
    grants: tuple[_Grant, ...]
    granted: Credentials | None


class Loader(Struct, frozen=True, eq=False):
    """A loader preset under RenderConfig, made ready once a run. `sources`: by hub or URI scheme that it serves;
    `origins`: of its container's fields that are alike for all sources.
    """

    name: str
    image: str
    command: tuple[str, ...]
    args: tuple[_Part, ...]
    config_env: tuple[_Part, ...]
    resources: Body
    security: Body
    knows_user: bool
    sources: Mapping[str, _Source]
    origins: Mapping[Path, Origin]


def settings(config: RenderConfig, diagnostics: Collector) -> None:
    """What is wrong with RenderConfig's `loaders`, each at its place, whether an app has that loader or not."""
    for name, mine in (config.get("loaders") or {}).items():
        at = config.origin("loaders", name)
        for key, form in (("image", "repository"), ("version", "tag")):
            if key in mine:
                images.validate_image(mine[key], form, at.at(key), diagnostics)
        resources.merge_resources(
            [ValueLayer({}, at), ValueLayer(mine.get("resources") or {}, at.at("resources"))], {}, diagnostics
        )
        api_defaults.default_env(mine.get("env") or (), at.at("env"), diagnostics)


def read_loader(inputs: Inputs, name: str) -> Loader:
    """The loader preset of that name; what is wrong with RenderConfig's words on it, `settings` says."""
    preset, config = inputs.loaders[name].value["spec"], inputs.config
    at, config_at = inputs.loaders[name].origin("spec"), config.origin("loaders", name)
    secured = preset.get("security") or {}
    mine = config.get("loaders", name) or {}
    authors = (preset, at), (mine, config_at)
    repository, version = [replacements(key, authors)[-1] for key in ("image", "version")]
    sources: dict[str, _Source] = {}
    for i, entry in enumerate(preset["sources"]):
        entry_at = at.at("sources", i)
        granted = enumerate(entry.get("credentials") or ())
        grants = tuple(_grant(config, item, entry_at.at("credentials", j)) for j, item in granted)
        envs = enumerate(entry.get("envs") or ())
        source = _Source(
            tuple(_part(item, item["name"], entry_at.at("envs", j)) for j, item in envs),
            grants,
            None if any(grant.when for grant in grants) else _granted([grant.credentials for grant in grants]),
        )
        sources |= dict.fromkeys(entry["serves"], source)
    amounts = replacements("resources", authors)
    fields: dict[Path, Origin] = {("command",): at.at("command"), ("image",): repository.origin}
    if amounts:
        fields["resources",] = amounts[-1].origin
    return Loader(
        name=name,
        image=images.image_reference(config, images.with_tag(repository.value, version.value)),
        command=tuple(preset.get("command") or ()),
        args=tuple(_argument(item, at.at("args", i)) for i, item in enumerate(preset.get("args") or ())),
        config_env=tuple(_config_env(mine.get("env") or (), config_at.at("env"))),
        resources=_resources(amounts[-1].value if amounts else {}),
        security=security.context(secured, read_only=bool(secured.get("readOnlyRoot"))),
        knows_user="user" in secured,
        sources=sources,
        origins=fields,
    )


def _config_env(entries: Sequence[Body], origin: Origin) -> Iterator[_Part]:
    """The entries, normal; without wrong ones."""
    for i, entry in enumerate(entries):
        diagnostics = Collector()
        fixed = api_defaults.default_env_entry(entry, origin, diagnostics)
        if not diagnostics.problems:
            yield _Part(None, fixed["name"], fixed, None, {(): origin.at(i)})


def _argument(entry: Spec | str, origin: Origin) -> _Part:
    return _part({"value": entry}, "", origin) if isinstance(entry, str) else _part(entry, "", origin.at("value"))


def _part(entry: Spec, name: str, origin: Origin) -> _Part:
    when = template.compile_condition(entry["when"], WORDS) if "when" in entry else None
    filler = template.compile_template(entry["value"], WORDS)
    fixed = SharedMap({"name": name, "value": entry["value"]}) if name else entry["value"]
    return _Part(when, name, fixed, filler, {(): origin})


def _grant(config: RenderConfig, entry: Spec, origin: Origin) -> _Grant:
    (secret, secret_at), optional = _secret(config, entry, origin), entry.get("optional", True)
    env: list[Body] = [_from_secret(variable, secret, optional) for variable in entry.get("envs") or ()]
    reference = ("valueFrom", "secretKeyRef")
    entries = [origin.at("envs", i) for i in range(len(env))]
    fields: list[dict[Path, Origin]] = [
        {(): at, (*reference, "key"): at.at("key"), (*reference, "name"): secret_at} for at in entries
    ]
    if file := entry.get("file"):
        volume = f"{entry['secret']}-credentials"
        fields.append({("name",): origin.at("file", "env"), ("value",): origin.at("file", "mountPath")})
        env.append(SharedMap({"name": file["env"], "value": f"{file['mountPath'].rstrip('/')}/{file['key']}"}))
        mount = SharedMap({"name": volume, "mountPath": file["mountPath"], "readOnly": True})
        credentials = Credentials(
            tuple(env), tuple(fields), (mount,), ({"name": volume, "secret": {"secretName": secret}},)
        )
    else:
        credentials = Credentials(tuple(env), tuple(fields))
    return _Grant(template.compile_condition(entry["when"], WORDS) if "when" in entry else None, credentials)


def _from_secret(entry: Spec, secret: str, optional: bool) -> Body:
    """An environment entry: a key of the Secret, or a value that goes with it."""
    if "value" in entry:
        return SharedMap({"name": entry["name"], "value": entry["value"]})
    reference = {"name": secret, "key": entry["key"], **({"optional": True} if optional else {})}
    shared: Body = template.share_maps({"name": entry["name"], "valueFrom": {"secretKeyRef": reference}})
    return shared


def _secret(config: RenderConfig, entry: Spec, origin: Origin) -> tuple[str, Origin]:
    """The name of the Secret, and who says it."""
    secret = entry["secret"]
    chosen = config.get("secrets", secret)
    own = (chosen, config.origin("secrets", secret)) if isinstance(chosen, Mapping) else ({}, origin)
    if isinstance(chosen, str) and chosen:
        return chosen, config.origin("secrets", secret)
    names = replacements("name", [(entry, origin), own])
    return (names[-1].value, names[-1].origin) if names else (f"{secret}-access-secret", origin.at("secret"))


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
    shared: Body = template.share_maps(sides)
    return shared


def credentials(loader: Loader, weights: Weights) -> Credentials:
    """What the source's preset entry says, under RenderConfig's Secret names."""
    source = loader.sources[weights.hub or weights.scheme]
    if source.granted:
        return source.granted
    return _granted([grant.credentials for grant in source.grants if grant.when is None or grant.when(weights.words)])


def _granted(grants: Sequence[Credentials]) -> Credentials:
    """All of them as one."""
    if len(grants) == 1:
        return grants[0]
    return Credentials(
        tuple(entry for grant in grants for entry in grant.env),
        tuple(origins for grant in grants for origins in grant.origins),
        tuple(mount for grant in grants for mount in grant.mounts),
        tuple(volume for grant in grants for volume in grant.volumes),
    )


def _environment(
    loader: Loader, weights: Weights, runner_env: Sequence[Body], access: Credentials
) -> dict[str, tuple[Body, Mapping[Path, Origin]]]:
    """The variables by name, each with the origins of its fields: the runner's (these have none), RenderConfig's, the
    preset's.
    """
    words = weights.words
    env: dict[str, tuple[Body, Mapping[Path, Origin]]] = {entry["name"]: (entry, _NO_ORIGINS) for entry in runner_env}
    for part in (*loader.config_env, *loader.sources[weights.hub or weights.scheme].envs):
        if part.when is None or part.when(words):
            entry = {"name": part.name, "value": str(part.filler(words))} if part.filler else part.fixed
            env[part.name] = entry, part.origins
    for entry, fields in zip(access.env, access.origins, strict=True):
        env.setdefault(entry["name"], (entry, fields))  # Secrets come last, and only where the name is not taken
    return env


def _arguments(loader: Loader, weights: Weights) -> list[_Part]:
    """The arguments that hold."""
    return [part for part in loader.args if part.when is None or part.when(weights.words)]


def origins(
    loader: Loader, weights: Weights, runner_env: Mapping[str, Origin], access: Credentials
) -> Iterator[tuple[Path, Origin]]:
    """Who says the fields of the container for these weights, a variable by its name. `runner_env`: who says the
    runner's.
    """
    yield from loader.origins.items()
    for i, part in enumerate(_arguments(loader, weights)):
        yield ("args", i), part.origins[()]
    names = [{"name": name} for name in runner_env]
    for name, (_, fields) in _environment(loader, weights, names, access).items():
        for path, origin in (fields or {(): runner_env[name]}).items():
            yield ("env", name, *path), origin


def container(
    loader: Loader, position: int, weights: Weights, runner_env: Sequence[Body], access: Credentials, hardening: str
) -> Container:
    """The init container for the weights of the model at `position`, the main model's being 0."""
    env = _environment(loader, weights, runner_env, access)
    return Container(
        name=f"model-loader-{position}" if position else "model-loader",
        image=loader.image,
        command=loader.command,
        args=tuple(
            [
                str(argument.filler(weights.words)) if argument.filler else argument.fixed
                for argument in _arguments(loader, weights)
            ]
        ),
        env=tuple([entry for entry, _ in env.values()]),
        resources=loader.resources,
        security={} if hardening == "off" else loader.security,
        mounts=(WRITABLE, *access.mounts),
    )
