"""Programs and packages that an engine's own image lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, rule
from renderer.engines.given_options import option_values
from renderer.engines.running_engine import RunningEngine
from renderer.engines.version_order import in_range

if TYPE_CHECKING:
    from renderer.input_types import AbsentSpec

_MODULE_PATH = "PYTHONPATH"  # where it is set, packages may be in a volume


def _may_lack(running: RunningEngine) -> bool:
    """Whether the line has an option, or the container a script, that may need something that the image lacks."""
    line = running.line
    if not line.version or not line.engine.absent:
        return False
    text = " ".join((*running.container.command, *running.container.args))
    for entry in line.engine.absent:  # no `any`: this runs for each app
        if not line.options.isdisjoint(entry.get("options") or ()):
            return True
        for script in entry.get("scripts") or ():
            if script in text:
                return True
    return False


@rule(of=RunningEngine, when=_may_lack)
def absent_programs(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for what needs a program or a package that the version's image lacks, unless the container or an init
    container installs it.
    """
    line = running.line
    for entry in line.engine.absent:
        causes = [*_options(running, entry), *_scripts(running, entry)]
        if not causes or not in_range(entry, line.version):
            continue
        if not _is_image(running, entry) or _may_have(running, entry["name"]):
            continue
        install = f"install it first: {entry['install']}" if "install" in entry else "use an image that has it"
        words = {"of": f"{line.engine.names.engine} {line.version}", "name": entry["name"]}
        for cause, origin, is_option in causes:
            hint = f"leave it out, or {install}" if is_option else install
            yield make_diagnostic("E479", origin, given=cause, hint=hint, **words)


def _is_image(running: RunningEngine, entry: AbsentSpec) -> bool:
    """Whether the container runs one of the images, or a mirror of one."""
    repository = running.container.image.partition("@")[0]
    folder, _, last = repository.rpartition("/")
    ending = f"{folder.rpartition('/')[2]}/{last.partition(':')[0]}"
    return running.line.is_own_image() and any(f"/{image}".endswith(f"/{ending}") for image in entry["images"])


def _may_have(running: RunningEngine, name: str) -> bool:
    """Whether something in the pod installs it, or may bring it along."""
    if running.has_variable((_MODULE_PATH,)):
        return True
    installs = re.compile(rf"\binstall\b[^\n;&|]*\b{re.escape(name)}\b")
    containers = (running.container, *running.pod.init_containers)
    texts = (" ".join((*container.command, *container.args)) for container in containers)
    return any(installs.search(text) for text in texts)


def _options(running: RunningEngine, entry: AbsentSpec) -> Iterator[tuple[str, Origin, bool]]:
    """The options that need it, each with its value."""
    line = running.line
    needed: Mapping[str, Sequence[str]] = entry.get("options") or {}
    for layer in line.written if not line.options.isdisjoint(needed) else ():
        values = option_values(line.engine.style, layer.args, frozenset(needed))
        for i, arg in enumerate(layer.args):
            name = line.engine.style.name(arg) if arg[:1] == "-" else ""
            if (value := values.get(name, "")) in needed.get(name, ()):
                yield f"{arg.partition('=')[0]} {value}", layer.origin_of(i), True
                values.pop(name)


def _scripts(running: RunningEngine, entry: AbsentSpec) -> Iterator[tuple[str, Origin, bool]]:
    """The commands in scripts of the container that need it."""
    scripts = entry.get("scripts") or ()
    for field, words in (("command", running.container.command), ("args", running.container.args)):
        for i, text in enumerate(words):
            for script in scripts:
                if script not in text or not re.search(rf"(?<![\w-]){re.escape(script)}(?![\w-])", text):
                    continue
                if origin := running.origin_of((*running.path, field, i)):
                    yield script, origin, False
