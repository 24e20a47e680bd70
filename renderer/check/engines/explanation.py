"""What is known of an engine in a manifest, and how: `llmaz check --explain-engine`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from renderer.check.engines.containers import EngineContainer
from renderer.check.engines.neighbours import Neighbours
from renderer.check.engines.validation import engine_line_of
from renderer.engines.catalog import EngineCatalog
from renderer.engines.rules.accelerators import accelerators_used
from renderer.engines.running_engine import EngineLine
from renderer.kubernetes.json_values import text_at
from renderer.yamlio import Document


def container_at(containers: Iterable[EngineContainer], line: int) -> EngineContainer | None:
    """The engine whose container begins at or last before a line of its file; None without one."""
    before = [container for container in containers if container.origin().place[1] <= line]
    return max(before, key=lambda container: container.origin().place[1], default=None)


def explain_engine(container: EngineContainer, catalog: EngineCatalog, documents: Iterable[Document]) -> dict[str, Any]:
    """The record of an engine, as JSON: engine, version, and how that is known; options, and what judges them;
    accelerators. `documents`: the set of manifests that it is in.
    """
    from renderer.secrets.detection import hide_secrets  # few runs need it

    recognised, line = container.recognised, engine_line_of(container, catalog, Neighbours(documents))
    file, number, _ = container.origin().place
    accelerator = line.shared.accelerator
    return {
        "container": container.name,
        "file": file,
        "line": number,
        "engine": recognised.engine.runtime.name,
        "certain": recognised.is_certain,
        "signs": list(recognised.signs),
        "version": line.version or None,
        "versionBy": _version_source(container, line),
        "optionsBy": _options_source(container, line),
        "options": list(_options(line, hide_secrets(list(line.args)))),
        "accelerators": {accelerator.resource: accelerator.number} if accelerator.resource else {},
        "acceleratorsUsed": _used(line),
        "podsOfReplica": line.shared.hosts,
    }


def explanation_text(record: dict[str, Any]) -> str:
    """The record for people."""
    version = f" {record['version']}" if record["version"] else ""
    lines = [
        f"{record['container']} ({record['file']}:{record['line']})",
        f"  engine        {record['engine']}{version}: {record['versionBy']}",
        *_recognition(record),
        f"  options       {record['optionsBy']}",
        *(f"    line {option['line']:<5} {option['text']}" for option in record["options"]),
    ]
    for resource, number in record["accelerators"].items():
        used = record["acceleratorsUsed"]
        lines.append(f"  accelerators  {number} of {resource}, {'an unknown number' if used is None else used} used")
    if record["podsOfReplica"] > 1:
        lines.append(f"  replica       {record['podsOfReplica']} pods; accelerators are not counted over several pods")
    return "\n".join(lines) + "\n"


def _recognition(record: dict[str, Any]) -> Iterator[str]:
    """By what the engine is recognised, where that is neither its command nor its image."""
    if record["signs"]:
        signs = ", ".join(record["signs"])
        too_few = "" if record["certain"] else ": too little to check it as this engine"
        yield f"  recognised    by what no other known engine has: {signs}{too_few}"


def _version_source(container: EngineContainer, line: EngineLine) -> str:
    image = text_at(container.body, "image")
    if line.version:
        return f"by the tag of {image}"
    if container.recognised.is_own_image:
        return f"the version is unknown, since {image} has no tag that names one"
    return f"the version is unknown, since {image or 'its image'} is not an image of the engine's project"


def _options_source(container: EngineContainer, line: EngineLine) -> str:
    if container.recognised.command.hides_options:
        return "not checked: text that is filled in at run time may be an option"
    if line.option_rules is None:
        return "not checked: the options of this version are unknown"
    return f"checked by the list of {line.option_rules.engine}"


def _options(line: EngineLine, shown: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Each option with its values, and its line in the file. `shown`: the arguments with their secrets hidden."""
    starts = [i for i, arg in enumerate(line.args) if not i or line.engine.style.is_option(arg)]
    for start, end in itertools.pairwise([*starts, len(line.args)]):
        yield {"line": line.written[0].origin_of(start).place[1], "text": " ".join(shown[start:end])}


def _used(line: EngineLine) -> int | None:
    """The number of accelerators that the command line uses; None where it cannot be told."""
    options = {line.engine.style.name(token) for token in line.args if token[:1] == "-"}
    return (
        line.shared.size
        if options.isdisjoint(line.engine.parallel_options)
        else accelerators_used(line.engine, line.args)
    )
