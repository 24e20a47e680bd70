"""Loaders: the init containers that bring weights into the pod, and the credentials that they or the engine get.

The data of each loader is its preset in presets/loaders (docs/design/contract.md#names-in-the-pod).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct

from renderer import template
from renderer.api import Inputs, RenderConfig
from renderer.diagnostics import Collector, Diagnostic, Origin, Path
from renderer.engines.downloads import OFFLINE_VARIABLES, is_offline
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import as_text
from renderer.plan import Body, Container
from renderer.resolve.container_words import container_words
from renderer.resolve.kube import api_defaults, images, resources
from renderer.resolve.layers import ValueLayer, replacements
from renderer.resolve.pod import hardening
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
        "Include",
        "Region",
        "Anonymous",
        "SecretAs",
    ]
)
VOLUME = "model-volume"
WRITABLE_MOUNT = SharedMap({"name": VOLUME, "mountPath": MODELS_FOLDER})
NOBODY = 65532
SHELL = "store"  # the loader whose image surely has a shell
_OFFLINE = frozenset((*OFFLINE_VARIABLES, "HF_DATASETS_OFFLINE"))
_ASKED_HUB = "Huggingface"  # whose client reads them
_NO_ORIGINS: Mapping[Path, Origin] = {}
READ_ONLY_MOUNT = SharedMap({"name": VOLUME, "mountPath": MODELS_FOLDER, "readOnly": True})


class Credentials(Struct, frozen=True):
    """Credentials for the weights: environment entries, and files mounted from Secrets."""

    env: tuple[Body, ...] = ()
    origins: tuple[Mapping[Path, Origin], ...] = ()  # of the fields of each entry of `env`
    mounts: tuple[Body, ...] = ()
    volumes: tuple[Body, ...] = ()


class _Part(Struct, frozen=True):
    """An argument or environment entry of a preset."""

    when: Filler | None  # its condition, None for always
    name: str
    fixed: Any  # its value, where it has no `filler`
    filler: Filler | None
    origins: Mapping[Path, Origin]  # of its fields


class _Grant(Struct, frozen=True):
    """Credentials for a source."""

    when: Filler | None  # their condition, None for always
    credentials: Credentials


class _Source(Struct, frozen=True, eq=False):
    """What a loader needs for one kind of source."""

    envs: tuple[_Part, ...]
    grants: tuple[_Grant, ...]
    credentials: Credentials | None  # all grants merged, where none has a condition


class Loader(Struct, frozen=True, eq=False):
    """A compiled loader preset, with RenderConfig's settings for it."""

    name: str
    image: str
    command: tuple[str, ...]
    args: tuple[_Part, ...]
    config_env: tuple[_Part, ...]
    resources: Body
    security: Body
    sources: Mapping[str, _Source]  # by hub or URI scheme
    origins: Mapping[Path, Origin]  # of the container's fields that do not depend on the source


def invalid_settings(inputs: Inputs) -> list[Diagnostic]:
    """What is wrong with RenderConfig's `loaders`, used or not."""
    diagnostics, config = Collector(), inputs.config
    for name, loader_spec in (config.get("loaders") or {}).items():
        origin = config.origin("loaders", name)
        for key, form in (("image", "repository"), ("version", "tag")):
            if key in loader_spec:
                diagnostics.problems += images.invalid_image(loader_spec[key], form, origin.at(key))
        layer = ValueLayer(loader_spec.get("resources") or {}, origin.at("resources"))
        resources.merge_resources([ValueLayer({}, origin), layer], {}, diagnostics)
        env = loader_spec.get("env") or ()
        api_defaults.default_env(env, origin.at("env"), diagnostics)
        for i, variable in enumerate(env):
            if is_offline(variable) and _asks_hub(inputs, name):
                diagnostics.add("W927", origin.at("env", i), name=variable["name"])
    return diagnostics.problems


def _asks_hub(inputs: Inputs, name: str) -> bool:
    """Whether a loader preset loads from the hub whose client such a variable keeps offline."""
    return any(_ASKED_HUB in source["serves"] for source in inputs.loaders[name].value["spec"]["sources"])


def is_kept_offline(weights: Weights, variable: Body) -> bool:
    """Whether a variable of their loader keeps it from loading these weights."""
    return weights.hub == _ASKED_HUB and is_offline(variable)


def read_loader(inputs: Inputs, name: str) -> Loader:
    """The compiled loader preset of that name. Invalid settings of RenderConfig are ignored: `invalid_settings`
    reports them.
    """
    preset, config = inputs.loaders[name].value["spec"], inputs.config
    preset_origin, config_origin = inputs.loaders[name].origin("spec"), config.origin("loaders", name)
    security_spec = preset.get("security", {})
    overrides = config.get("loaders", name) or {}
    authors = (preset, preset_origin), (overrides, config_origin)
    repository, version = [replacements(key, authors)[-1] for key in ("image", "version")]
    sources: dict[str, _Source] = {}
    for i, entry in enumerate(preset["sources"]):
        source_origin = preset_origin.at("sources", i)
        items = enumerate(entry.get("credentials") or ())
        grants = tuple(_grant(config, item, source_origin.at("credentials", j)) for j, item in items)
        items = enumerate(entry.get("envs") or ())
        envs = tuple(_part(item, item["name"], source_origin.at("envs", j)) for j, item in items)
        is_fixed = not any(grant.when for grant in grants)
        credentials = _merge_credentials([grant.credentials for grant in grants]) if is_fixed else None
        sources |= dict.fromkeys(entry["serves"], _Source(envs, grants, credentials))
    resource_layers = replacements("resources", authors)
    field_origins: dict[Path, Origin] = {("command",): preset_origin.at("command"), ("image",): repository.origin}
    if resource_layers:
        field_origins["resources",] = resource_layers[-1].origin
    return Loader(
        name=name,
        image=images.image_reference(config, images.with_tag(repository.value, version.value)),
        command=tuple(preset.get("command") or ()),
        args=tuple(_argument(item, preset_origin.at("args", i)) for i, item in enumerate(preset.get("args") or ())),
        config_env=tuple(_config_env(overrides.get("env") or (), config_origin.at("env"))),
        resources=_normalize_resources(resource_layers[-1].value if resource_layers else {}),
        security=hardening.security_context(security_spec, read_only=bool(security_spec.get("readOnlyRoot"))),
        sources=sources,
        origins=field_origins,
    )


def _config_env(entries: Sequence[Body], origin: Origin) -> Iterator[_Part]:
    """The entries with API defaults, without invalid ones."""
    for i, entry in enumerate(entries):
        diagnostics = Collector()
        fixed = api_defaults.default_env_entry(entry, origin, diagnostics)
        if not diagnostics.problems:
            yield _Part(None, fixed["name"], fixed, None, {(): origin.at(i)})


def _argument(entry: Mapping[str, object] | str, origin: Origin) -> _Part:
    return _part({"value": entry}, "", origin) if isinstance(entry, str) else _part(entry, "", origin.at("value"))


def _part(entry: Mapping[str, Any], name: str, origin: Origin) -> _Part:
    when = template.compile_condition(entry["when"], WORDS) if "when" in entry else None
    filler = template.compile_template(entry["value"], WORDS)
    fixed = SharedMap({"name": name, "value": entry["value"]}) if name else entry["value"]
    return _Part(when, name, fixed, filler, {(): origin})


def _grant(config: RenderConfig, entry: Mapping[str, Any], origin: Origin) -> _Grant:
    secret, secret_origin = _secret_name(config, entry, origin)
    chosen, config_origin = config.get("secrets", entry["secret"]), config.origin("secrets", entry["secret"])
    choice = chosen if isinstance(chosen, Mapping) else {}
    variables = [
        {**variable, "key": choice["key"]} if "key" in choice and "key" in variable else variable
        for variable in entry.get("envs") or ()
    ]
    optional = choice.get("optional", entry.get("optional", True))
    env: list[Body] = [_from_secret(variable, secret, optional) for variable in variables]
    reference = ("valueFrom", "secretKeyRef")
    entries = [origin.at("envs", i) for i in range(len(env))]
    field_origins: list[dict[Path, Origin]] = [
        {
            (): entry_origin,
            (*reference, "key"): config_origin.at("key") if "key" in choice else entry_origin.at("key"),
            (*reference, "name"): secret_origin,
            **({(*reference, "optional"): config_origin.at("optional")} if "optional" in choice else {}),
        }
        for entry_origin in entries
    ]
    if file := entry.get("file"):
        volume = f"{entry['secret']}-credentials"
        field_origins.append({("name",): origin.at("file", "env"), ("value",): origin.at("file", "mountPath")})
        env.append(SharedMap({"name": file["env"], "value": f"{file['mountPath'].rstrip('/')}/{file['key']}"}))
        mount = SharedMap({"name": volume, "mountPath": file["mountPath"], "readOnly": True})
        credentials = Credentials(
            tuple(env), tuple(field_origins), (mount,), ({"name": volume, "secret": {"secretName": secret}},)
        )
    else:
        credentials = Credentials(tuple(env), tuple(field_origins))
    return _Grant(template.compile_condition(entry["when"], WORDS) if "when" in entry else None, credentials)


def _from_secret(entry: Mapping[str, object], secret: str, optional: bool) -> Body:
    """An environment entry: a key of the Secret, or the entry's own value."""
    if "value" in entry:
        return SharedMap({"name": entry["name"], "value": entry["value"]})
    reference = {"name": secret, "key": entry["key"], **({"optional": True} if optional else {})}
    shared: Body = template.share_maps({"name": entry["name"], "valueFrom": {"secretKeyRef": reference}})
    return shared


def _secret_name(config: RenderConfig, entry: Mapping[str, Any], origin: Origin) -> tuple[str, Origin]:
    """The name of the Secret, and its origin."""
    secret = entry["secret"]
    chosen = config.get("secrets", secret)
    override = (chosen, config.origin("secrets", secret)) if isinstance(chosen, Mapping) else ({}, origin)
    if isinstance(chosen, str) and chosen:
        return chosen, config.origin("secrets", secret)
    names = replacements("name", [(entry, origin), override])
    return (names[-1].value, names[-1].origin) if names else (f"{secret}-access-secret", origin.at("secret"))


def _normalize_resources(spec: Mapping[str, Any]) -> Body:
    """Canonical resources, without invalid quantities, and without requests where one is above its limit."""
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


def group(loader: Loader) -> int:
    """The group of the files that the loader writes: of its user, else a group that belongs to nobody."""
    known = loader.security.get("runAsGroup")
    return known if isinstance(known, int) else NOBODY


def credentials(loader: Loader, weights: Weights) -> Credentials:
    """The loader's credentials for these weights, with RenderConfig's names of Secrets."""
    source = loader.sources[weights.hub or weights.scheme]
    if source.credentials:
        return source.credentials
    return _merge_credentials(
        [grant.credentials for grant in source.grants if grant.when is None or grant.when(weights.words)]
    )


def _merge_credentials(grants: Sequence[Credentials]) -> Credentials:
    if len(grants) == 1:
        return grants[0]
    return Credentials(
        tuple(entry for grant in grants for entry in grant.env),
        tuple(origins for grant in grants for origins in grant.origins),
        tuple(mount for grant in grants for mount in grant.mounts),
        tuple(volume for grant in grants for volume in grant.volumes),
    )


def _merge_environment(
    loader: Loader, weights: Weights, runner_env: Sequence[Body], credentials: Credentials
) -> dict[str, tuple[Body, Mapping[Path, Origin]]]:
    """The loader's variables by name, each with the origins of its fields: merged from the runner's (without origins),
    RenderConfig's, the preset's, and the credentials.
    """
    words, texts = weights.words, container_words(weights.words)
    env: dict[str, tuple[Body, Mapping[Path, Origin]]] = {
        str(entry["name"]): (entry, _NO_ORIGINS) for entry in runner_env
    }
    for part in (*loader.config_env, *loader.sources[weights.hub or weights.scheme].envs):
        if part.when is None or part.when(words):
            entry = {"name": part.name, "value": str(part.filler(texts))} if part.filler else part.fixed
            env[part.name] = entry, part.origins
    for entry, field_origins in zip(credentials.env, credentials.origins, strict=True):
        env.setdefault(
            str(entry["name"]), (entry, field_origins)
        )  # Secrets come last, and only where the name is not taken
    return env


def _active_args(loader: Loader, weights: Weights) -> list[_Part]:
    """The arguments whose conditions hold for these weights."""
    return [part for part in loader.args if part.when is None or part.when(weights.words)]


def origins(
    loader: Loader, weights: Weights, runner_env: Mapping[str, Origin], credentials: Credentials
) -> Iterator[tuple[Path, Origin]]:
    """The origins of the container's fields, by path, with variables by name. `runner_env`: those of the runner."""
    yield from loader.origins.items()
    for i, part in enumerate(_active_args(loader, weights)):
        yield ("args", i), part.origins[()]
    names = [{"name": name} for name in runner_env]
    for name, (_, field_origins) in _merge_environment(loader, weights, names, credentials).items():
        for path, origin in (field_origins or {(): runner_env[name]}).items():
            yield ("env", name, *path), origin


def loader_name(position: int) -> str:
    """The name of the container that loads the model at a position of the claim."""
    return f"model-loader-{position}" if position else "model-loader"


def without_offline(env: Sequence[Body]) -> tuple[Body, ...]:
    """The variables without those that keep the hub's client from asking the hub, which loaders have to ask."""
    return tuple([entry for entry in env if as_text(entry.get("name")) not in _OFFLINE])


def loader_container(
    loader: Loader,
    position: int,
    weights: Weights,
    runner_env: Sequence[Body],
    credentials: Credentials,
    level: str,
) -> Container:
    """The init container for the weights of the model at `position` of the claim; the main model is at 0. `level`: of
    hardening.
    """
    env = _merge_environment(loader, weights, runner_env, credentials)
    return Container(
        name=loader_name(position),
        image=loader.image,
        command=loader.command,
        args=tuple(
            [
                str(argument.filler(container_words(weights.words))) if argument.filler else argument.fixed
                for argument in _active_args(loader, weights)
            ]
        ),
        env=tuple([entry for entry, _ in env.values()]),
        resources=loader.resources,
        security_context=hardening.security_at(level, loader.security),
        volume_mounts=(WRITABLE_MOUNT, *credentials.mounts),
    )
