"""RenderConfig: its file, overridden by `--set`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from renderer import schema_validation, yamlio
from renderer.api import RenderConfig
from renderer.diagnostics import (
    Diagnostic,
    Finding,
    NamedSource,
    Origin,
    Path,
    RenderError,
    Source,
    make_diagnostic,
    read_error,
)
from renderer.kubernetes import component_versions
from renderer.load.environments import apply_environment, environment_names, unknown_environment
from renderer.load.targets import target_problems, unsupported_targets
from renderer.load.validation import KINDS, check, kind_of
from renderer.source.paths import tree_root
from renderer.source.tree import DISK, FileSystem
from renderer.text import escapes
from renderer.yamlio import Document

if TYPE_CHECKING:
    from renderer.input_types import RenderConfigSpec


class ConfigOverride(Struct, frozen=True):
    """`--set KEY=VALUE`."""

    path: tuple[str, ...]  # below RenderConfig's `spec`
    value: object  # as YAML reads it
    text: str


def parse_override(text: str) -> ConfigOverride:
    """The parsed argument of one `--set`. Raises RenderError when it is not a KEY=VALUE, or the value is not YAML."""
    source = _flag(text)
    key, equals, value = text.partition("=")
    path = tuple(key.removeprefix("spec.").split("."))
    if not equals or not all(path):
        raise RenderError([make_diagnostic("E130", Origin(source), text=text)])
    documents, problems = yamlio.parse(source.name, value.encode(), editable=False)
    if problems:
        raise RenderError([make_diagnostic("E131", Origin(source), what=problems[0].message)])
    parsed = documents[0].value if documents else ""
    return ConfigOverride(path, value if parsed is False and value.lower() == "off" else parsed, text)


def render_config(
    path: str | None,
    name: str,
    overrides: Sequence[ConfigOverride] = (),
    file_system: FileSystem = DISK,
    skipped_keys: Sequence[str] = (),
    env: str = "",
) -> tuple[RenderConfig, list[Diagnostic]]:
    """RenderConfig of the file at `path` (None: no file) with the overrides applied, and the file's problems; invalid
    keys are left out. `skipped_keys`: keys that the caller reads itself; `env`: the environment.

    Raises RenderError for a file that is not YAML, for bad overrides, and for an environment that is not there.
    """
    document: Document | None = None
    spec: dict[str, Any] = {}
    problems: list[Diagnostic] = []
    if path:
        documents, problems = _read_documents(path, name, file_system, skipped_keys, env)
        if documents:
            document = documents[0]
            spec = _valid_keys(document, problems, env)
            problems += _second_configs(documents, name)
    if document is None and env:
        raise unknown_environment(env)
    spec, sources = _apply_overrides(spec, overrides)
    config = RenderConfig(cast("RenderConfigSpec", spec), document or NamedSource("llmaz.yaml"), sources)
    if (folder := config.get("output", "dir")) and not _is_inside(str(folder)):
        problems.append(make_diagnostic("E145", config.origin("output", "dir"), value=folder))
        output = {key: value for key, value in spec["output"].items() if key != "dir"}
        config = RenderConfig(cast("RenderConfigSpec", {**spec, "output": output}), config.document, sources)
    if overrides and (env or not environment_names(config.document)) and (findings := _config_findings(spec)):
        raise RenderError(
            make_diagnostic(finding.code, config.origin(*finding.path[1:], key=finding.key), **finding.words)
            for finding in findings
        )
    targets = component_versions.set_versions(config.get("targets") or {})
    unknown = [e for key, value in targets.items() for e in target_problems(config.origin("targets", key), key, value)]
    problems += unknown or unsupported_targets(config, targets)
    return config, problems


def _read_documents(
    path: str, name: str, file_system: FileSystem, skipped_keys: Sequence[str], env: str
) -> tuple[list[Document], list[Diagnostic]]:
    """The RenderConfigs in a file, the first with the environment applied, and the file's problems. Raises RenderError
    for a file that is not YAML.
    """
    try:
        data = file_system.read(path, tree_root(os.path.dirname(path)) or os.path.dirname(path))
    except OSError as error:
        raise RenderError([read_error(name, error)]) from None
    documents, problems = yamlio.parse(name, data)
    has_syntax_errors = bool(problems)
    config_documents = [e for e in documents if isinstance(e.value, dict) and e.value.get("kind") == "RenderConfig"]
    valid = [config_document for config_document in config_documents if kind_of(config_document, problems)]
    for i, config_document in enumerate(valid):
        for key in skipped_keys if isinstance(config_document.value.get("spec"), dict) else ():
            config_document.value["spec"].pop(key, None)
        valid[i], environment_problems = apply_environment(config_document, "" if i else env)
        problems += [*check(valid[i], "RenderConfig"), *environment_problems]
    if has_syntax_errors:
        raise RenderError([*problems, *_second_configs(valid, name)])
    return valid, problems


def _second_configs(documents: Sequence[Document], name: str) -> Iterator[Diagnostic]:
    """An error for each RenderConfig of a file but the first."""
    for second in documents[1:]:
        yield make_diagnostic("E204", second.origin("kind"), name=f"{name}:{documents[0].locate(('kind',))[0]}")


def _valid_keys(document: Document, problems: Sequence[Diagnostic], env: str) -> dict[str, Any]:
    """The keys of a RenderConfig's spec without errors, and without `environments`."""
    spec = document.value.get("spec")
    if not isinstance(spec, dict):
        return {}
    wrong_fields = [problem.field.removeprefix("spec.") for problem in problems if not problem.warning]
    wrong_keys = {field.partition(".")[0].partition("[")[0] for field in wrong_fields}
    if "environments" in wrong_keys and env:
        return {}  # whatever the environment has set
    return {key: value for key, value in spec.items() if key not in {*wrong_keys, "environments"}}


def _apply_overrides(
    spec: dict[str, Any], overrides: Sequence[ConfigOverride]
) -> tuple[dict[str, Any], dict[Path, Source]]:
    """The spec with the overrides, and by path of a key the override that set it. Raises RenderError for one of
    `environments`.
    """
    sources: dict[Path, Source] = {}
    for override in overrides:
        if override.path[0] == "environments":
            raise RenderError([make_diagnostic("E758", Origin(_flag(override.text)))])
        sources[override.path] = _flag(override.text)
        spec = _set_path(spec, override, override.value)
        if any(f.code == "E303" and f.words["kind"] == "string" for f in _override_findings(spec, override)):
            # Where a text belongs, the shell's 1.35 is that text.
            spec = _set_path(spec, override, override.text.partition("=")[2])
    return spec, sources


def _is_inside(folder: str) -> bool:
    """Whether a relative path leads to a folder below its start, and not into `.git`."""
    parts = folder.split("/")
    return folder.isprintable() and not folder.startswith("/") and not {"..", ".git"} & {name.lower() for name in parts}


def _flag(text: str) -> NamedSource:
    """`--set KEY=VALUE` as typed in a shell."""
    return NamedSource(f"--set {escapes.shell_word(text)}")


def _config_findings(spec: Mapping[str, object]) -> list[Finding]:
    document = {
        "apiVersion": KINDS["RenderConfig"],
        "kind": "RenderConfig",
        "metadata": {"name": "config"},
        "spec": spec,
    }
    return (
        []
        if schema_validation.is_valid("input/renderconfig", document)
        else schema_validation.findings("input/renderconfig", document)
    )


def _override_findings(spec: Mapping[str, object], override: ConfigOverride) -> list[Finding]:
    return [finding for finding in _config_findings(spec) if finding.path[1:] == override.path]


def _set_path(spec: object, override: ConfigOverride, value: object, depth: int = 0) -> dict[str, object]:
    """The spec with the value at the override's path. Raises RenderError where that leads through a single value."""
    if not isinstance(spec, dict):
        parent, key = ".".join(override.path[:depth]), ".".join(override.path)
        raise RenderError([make_diagnostic("E132", Origin(_flag(override.text)), parent=parent, key=key)])
    part = override.path[depth]
    if depth + 1 < len(override.path):
        value = _set_path(spec.get(part) or {}, override, value, depth + 1)
    return {**spec, part: value}
