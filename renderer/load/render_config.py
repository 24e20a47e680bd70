"""RenderConfig: what its file says, under `--set`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from renderer import component_versions, schema, yamlio
from renderer.api import RenderConfig, minor
from renderer.diagnostics import Diagnostic, Origin, Path, RenderError, Source, make_diagnostic
from renderer.diagnostics.rule import NamedSource
from renderer.load.environments import configured, missing, names
from renderer.load.validation import KINDS, check, kind_of
from renderer.source.paths import tree_root
from renderer.source.tree import DISK, FileSystem
from renderer.yamlio import Document


class ConfigOverride(Struct, frozen=True):
    """`--set KEY=VALUE`: the path below RenderConfig's `spec`, and the value as YAML reads it."""

    path: tuple[str, ...]
    value: Any
    text: str


def override(text: str) -> ConfigOverride:
    """One `--set`. Raises RenderError when it is no KEY=VALUE, or the value is no YAML."""
    source = _flag(text)
    key, equals, value = text.partition("=")
    path = tuple(key.removeprefix("spec.").split("."))
    if not equals or not all(path):
        raise RenderError([make_diagnostic("E130", Origin(source), text=text)])
    documents, problems = yamlio.parse(source.name, value.encode())
    if problems:
        raise RenderError([make_diagnostic("E131", Origin(source), what=problems[0].message)])
    read = documents[0].value if documents else ""
    return ConfigOverride(path, value if read is False and value.lower() == "off" else read, text)


def render_config(
    path: str | None,
    name: str,
    overrides: Sequence[ConfigOverride] = (),
    ground: FileSystem = DISK,
    beside: Sequence[str] = (),
    env: str = "",
) -> tuple[RenderConfig, list[Diagnostic]]:
    """RenderConfig of the file at `path` (None: there is none), under the overrides; and what is wrong with the file,
    the Config then being what is well. `beside`: keys that the caller reads itself; `env`: the environment.

    Raises RenderError for a file that is no YAML, for bad overrides, and for an environment that is not there.
    """
    document: Document | None = None
    spec: dict[str, Any] = {}
    problems: list[Diagnostic] = []
    if path:
        try:
            data = ground.read(path, tree_root(os.path.dirname(path)) or os.path.dirname(path))
        except OSError as error:
            raise RenderError(
                [make_diagnostic("E120", Origin(NamedSource(name)), what=error.strerror or error)]
            ) from None
        documents, problems = yamlio.parse(name, data)
        broken = bool(problems)
        named = [d for d in documents if isinstance(d.value, dict) and d.value.get("kind") == "RenderConfig"]
        ours = [found_document for found_document in named if kind_of(found_document, problems)]
        for i, found_document in enumerate(ours):
            for key in beside if isinstance(found_document.value.get("spec"), dict) else ():
                found_document.value["spec"].pop(key, None)
            ours[i], wrongly = configured(found_document, "" if i else env)
            problems += [*check(ours[i], "RenderConfig"), *wrongly]
        if ours:
            document = ours[0]
            wrongs = [problem.field.removeprefix("spec.") for problem in problems if not problem.warning]
            wrong = {field.partition(".")[0].partition("[")[0] for field in wrongs}
            if "environments" in wrong and env:
                wrong = {*(document.value.get("spec") or ())}  # whatever the environment has set
            wrong.add("environments")
            read = document.value.get("spec")
            spec = {key: read[key] for key in read if key not in wrong} if isinstance(read, dict) else {}
            problems += [
                make_diagnostic("E204", second.origin("kind"), name=f"{name}:{document.locate(('kind',))[0]}")
                for second in ours[1:]
            ]
        if broken:
            raise RenderError(problems)
    if document is None and env:
        raise missing(env)
    sources: dict[Path, Source] = {}
    for override in overrides:
        if override.path[0] == "environments":
            raise RenderError([make_diagnostic("E758", Origin(_flag(override.text)))])
        sources[override.path] = _flag(override.text)
        spec = _with(spec, override, override.value)
        if any(f.code == "E303" and f.words["kind"] == "string" for f in _override_findings(spec, override)):
            # Where a text belongs, the shell's 1.35 is that text.
            spec = _with(spec, override, override.text.partition("=")[2])
    config = RenderConfig(spec, document or NamedSource("llmaz.yaml"), sources)
    if (folder := config.get("output", "dir")) and not _is_inside(str(folder)):
        problems.append(make_diagnostic("E145", config.origin("output", "dir"), value=folder))
        kept = {key: value for key, value in spec["output"].items() if key != "dir"}
        config = RenderConfig({**spec, "output": kept}, config.document, sources)
    if overrides and (env or not names(config.document)) and (findings := _config_findings(spec)):
        raise RenderError(
            make_diagnostic(finding.code, config.origin(*finding.path[1:], key=finding.key), **finding.words)
            for finding in findings
        )
    aims = {key: value for key, value in (config.get("targets") or {}).items() if value}
    unknown = [wrong for key, value in aims.items() for wrong in _aimed(config.origin("targets", key), key, value)]
    problems += unknown or _unsupported(config, aims)
    return config, problems


def _is_inside(folder: str) -> bool:
    """Whether a path leads to a folder below the one that it is seen from, and not into git's own."""
    names = folder.split("/")
    return folder.isprintable() and not folder.startswith("/") and not {"..", ".git"} & {name.lower() for name in names}


def _aimed(at: Origin, key: str, value: str) -> Iterator[Diagnostic]:
    """What is wrong with a target: a version of which nobody knows what it has."""
    component = component_versions.components()[key]
    have = component_versions.version_numbers(value)
    if key == "kubernetes" and minor(value) < 30:
        yield make_diagnostic("E133", at, value=value)
    elif have < component_versions.version_numbers(component.oldest):
        yield make_diagnostic("E701", at, name=component.title, value=value, oldest=component.oldest)
    elif have > component_versions.version_numbers(component.newest):
        yield make_diagnostic("E702", at, name=component.title, value=value, newest=component.newest)


def _unsupported(config: RenderConfig, aims: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Warnings of targets that RenderConfig names and that do not work with others, named or by default."""
    components = component_versions.components()
    versions = component_versions.target_versions(aims).versions
    for key, value in aims.items():
        for other, needed in component_versions.unmet_dependencies(key, versions):
            words = {"name": components[key].title, "value": value, "other": components[other].title, "target": other}
            other_version = versions[other]
            yield make_diagnostic(
                "W703", config.origin("targets", key), **words, needed=needed, said=other_version, key=key
            )


def _flag(text: str) -> NamedSource:
    """`--set KEY=VALUE` as one types it."""
    import shlex

    return NamedSource(f"--set {shlex.quote(text)}")


def _config_findings(spec: Mapping[str, Any]) -> list[schema.SchemaFinding]:
    whole = {"apiVersion": KINDS["RenderConfig"], "kind": "RenderConfig", "metadata": {"name": "config"}, "spec": spec}
    return [] if schema.is_valid("input/renderconfig", whole) else schema.findings("input/renderconfig", whole)


def _override_findings(spec: Mapping[str, Any], override: ConfigOverride) -> list[schema.SchemaFinding]:
    return [finding for finding in _config_findings(spec) if finding.path[1:] == override.path]


def _with(spec: Any, override: ConfigOverride, value: Any, depth: int = 0) -> dict[str, Any]:
    """The spec with the value at the override's path. Raises RenderError where that leads through a single value."""
    if not isinstance(spec, dict):
        parent, key = ".".join(override.path[:depth]), ".".join(override.path)
        raise RenderError([make_diagnostic("E132", Origin(_flag(override.text)), parent=parent, key=key)])
    part = override.path[depth]
    if depth + 1 < len(override.path):
        value = _with(spec.get(part) or {}, override, value, depth + 1)
    return {**spec, part: value}
