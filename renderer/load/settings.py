"""RenderConfig: what its file says, under `--set`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from renderer import schema, since, yamlio
from renderer.api import Config, minor
from renderer.load.environments import configured, missing, names
from renderer.load.kinds import KINDS, check, kind_of
from renderer.load.rule import Rule
from renderer.paths import tree_root
from renderer.problems import Origin, Path, Problem, RenderError, Source, problem
from renderer.records import NamedTuple
from renderer.tree import DISK, Ground
from renderer.yamlio import Document


class Override(NamedTuple):
    """`--set KEY=VALUE`: the path below RenderConfig's `spec`, and the value as YAML reads it."""

    path: tuple[str, ...]
    value: Any
    text: str


def override(text: str) -> Override:
    """One `--set`. Raises RenderError when it is no KEY=VALUE, or the value is no YAML."""
    source = _flag(text)
    key, equals, value = text.partition("=")
    path = tuple(key.removeprefix("spec.").split("."))
    if not equals or not all(path):
        raise RenderError([problem("E130", Origin(source), text=text)])
    documents, problems = yamlio.parse(source.name, value.encode())
    if problems:
        raise RenderError([problem("E131", Origin(source), what=problems[0].message)])
    read = documents[0].value if documents else ""
    return Override(path, value if read is False and value.lower() == "off" else read, text)


def config(
    path: str | None,
    name: str,
    overrides: Sequence[Override] = (),
    ground: Ground = DISK,
    beside: Sequence[str] = (),
    env: str = "",
) -> tuple[Config, list[Problem]]:
    """RenderConfig of the file at `path` (None: there is none), under the overrides; and what is wrong with the file,
    the Config then being what is well. `beside`: keys that the caller reads itself; `env`: the environment.

    Raises RenderError for a file that is no YAML, for bad overrides, and for an environment that is not there.
    """
    document: Document | None = None
    spec: dict[str, Any] = {}
    problems: list[Problem] = []
    if path:
        try:
            data = ground.read(path, tree_root(os.path.dirname(path)) or os.path.dirname(path))
        except OSError as error:
            raise RenderError([problem("E120", Origin(Rule(name)), what=error.strerror or error)]) from None
        documents, problems = yamlio.parse(name, data)
        broken = bool(problems)
        named = [d for d in documents if isinstance(d.value, dict) and d.value.get("kind") == "RenderConfig"]
        ours = [each for each in named if kind_of(each, problems)]
        for i, each in enumerate(ours):
            for key in beside if isinstance(each.value.get("spec"), dict) else ():
                each.value["spec"].pop(key, None)
            ours[i], wrongly = configured(each, "" if i else env)
            problems += [*check(ours[i], "RenderConfig"), *wrongly]
        if ours:
            document = ours[0]
            wrongs = [each.field.removeprefix("spec.") for each in problems if not each.warning]
            wrong = {field.partition(".")[0].partition("[")[0] for field in wrongs}
            if "environments" in wrong and env:
                wrong = {*(document.value.get("spec") or ())}  # whatever the environment has set
            wrong.add("environments")
            read = document.value.get("spec")
            spec = {key: read[key] for key in read if key not in wrong} if isinstance(read, dict) else {}
            problems += [
                problem("E204", second.origin("kind"), name=f"{name}:{document.locate(('kind',))[0]}")
                for second in ours[1:]
            ]
        if broken:
            raise RenderError(problems)
    if document is None and env:
        raise missing(env)
    sources: dict[Path, Source] = {}
    for override in overrides:
        if override.path[0] == "environments":
            raise RenderError([problem("E758", Origin(_flag(override.text)))])
        sources[override.path] = _flag(override.text)
        spec = _with(spec, override, override.value)
        if any(f.code == "E303" and f.words["kind"] == "string" for f in _override_findings(spec, override)):
            # Where a text belongs, the shell's 1.35 is that text.
            spec = _with(spec, override, override.text.partition("=")[2])
    made = Config(spec, document or Rule("llmaz.yaml"), sources)
    if (folder := made.get("output", "dir")) and not _is_inside(str(folder)):
        problems.append(problem("E145", made.origin("output", "dir"), value=folder))
        kept = {key: value for key, value in spec["output"].items() if key != "dir"}
        made = Config({**spec, "output": kept}, made.document, sources)
    if overrides and (env or not names(made.document)) and (findings := _config_findings(spec)):
        raise RenderError(
            problem(found.code, made.origin(*found.path[1:], key=found.key), **found.words) for found in findings
        )
    aims = {key: value for key, value in (made.get("targets") or {}).items() if value}
    unknown = [wrong for key, value in aims.items() for wrong in _aimed(made.origin("targets", key), key, value)]
    problems += unknown or _unsupported(made, aims)
    return made, problems


def _is_inside(folder: str) -> bool:
    """Whether a path leads to a folder below the one that it is seen from, and not into git's own."""
    names = folder.split("/")
    return folder.isprintable() and not folder.startswith("/") and not {"..", ".git"} & {name.lower() for name in names}


def _aimed(at: Origin, key: str, value: str) -> Iterator[Problem]:
    """What is wrong with a target: a version of which nobody knows what it has."""
    component = since.components()[key]
    have = since.numbers(value)
    if key == "kubernetes" and minor(value) < 30:
        yield problem("E133", at, value=value)
    elif have < since.numbers(component.oldest):
        yield problem("E701", at, name=component.title, value=value, oldest=component.oldest)
    elif have > since.numbers(component.newest):
        yield problem("E702", at, name=component.title, value=value, newest=component.newest)


def _unsupported(config: Config, aims: Mapping[str, str]) -> Iterator[Problem]:
    """Warnings of targets that RenderConfig names and that do not work with others, named or by default."""
    components = since.components()
    versions = since.targets(aims).versions
    for key, value in aims.items():
        for other, needed in since.unsupported(key, versions):
            words = {"name": components[key].title, "value": value, "other": components[other].title, "target": other}
            said = versions[other]
            yield problem("W703", config.origin("targets", key), **words, needed=needed, said=said, key=key)


def _flag(text: str) -> Rule:
    """`--set KEY=VALUE` as one types it."""
    import shlex

    return Rule(f"--set {shlex.quote(text)}")


def _config_findings(spec: Mapping[str, Any]) -> list[schema.Finding]:
    whole = {"apiVersion": KINDS["RenderConfig"], "kind": "RenderConfig", "metadata": {"name": "config"}, "spec": spec}
    return [] if schema.valid("input/renderconfig", whole) else schema.findings("input/renderconfig", whole)


def _override_findings(spec: Mapping[str, Any], override: Override) -> list[schema.Finding]:
    return [found for found in _config_findings(spec) if found.path[1:] == override.path]


def _with(spec: Any, override: Override, value: Any, depth: int = 0) -> dict[str, Any]:
    """The spec with the value at the override's path. Raises RenderError where that leads through a single value."""
    if not isinstance(spec, dict):
        parent, key = ".".join(override.path[:depth]), ".".join(override.path)
        raise RenderError([problem("E132", Origin(_flag(override.text)), parent=parent, key=key)])
    part = override.path[depth]
    if depth + 1 < len(override.path):
        value = _with(spec.get(part) or {}, override, value, depth + 1)
    return {**spec, part: value}
