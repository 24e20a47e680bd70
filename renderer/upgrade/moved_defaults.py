"""Defaults that another version of an engine has, of options that the command lines of a tree leave out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from msgspec import Struct

from renderer.api import Inputs
from renderer.diff.models import ModelChange
from renderer.diff.objects import is_workload, items, role_items
from renderer.engines.image_version import version_of_tag
from renderer.engines.option_defaults import DefaultMoves, default_moves
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import maps_at, text_at, texts_at
from renderer.kubernetes.workloads import replicas
from renderer.output.manifest_files import OutputFile
from renderer.resolve.engine.engine_variants import is_own_image
from renderer.resolve.kube.images import split_tag
from renderer.upgrade.target import UpgradeTarget, reporting_lists


class AppDefault(Struct, frozen=True, order=True):
    """A default that is another one in the new version of a workload's engine."""

    workload: str  # its namespace and name
    option: str
    before: str
    after: str


class _EngineLine(Struct, frozen=True):
    """The engine of a workload before the upgrade, and its arguments on both sides."""

    workload: str
    backend: str  # '' where a person wrote the pod
    version: str  # '' likewise
    image: str
    args: Sequence[str]


def app_defaults(
    inputs: Inputs, target: UpgradeTarget, models: Iterable[ModelChange], broken: Sequence[OutputFile]
) -> list[AppDefault]:
    """The defaults that move in each workload of the engine, sorted. `broken`: the rendered files, before the upgrade,
    of what cannot be rendered after it. Raises RenderError.
    """
    spec = target.runtime.spec

    @cache
    def moves(version: str) -> DefaultMoves:
        with reporting_lists(target.runtime):
            return default_moves(inputs.option_files, target.runtime, version, target.version)

    defaults = []
    for line in (*_changed_lines(models), *_broken_lines(broken)):
        version = line.version
        if not line.backend and is_own_image(spec, inputs.config, line.image):
            version = version_of_tag(spec.get("engine") or {}, split_tag(line.image)[1], trusted=target.runtime.ours)
        elif line.backend not in target.backends:
            continue
        moved = moves(version).beside(line.args) if version else ()
        defaults += [AppDefault(line.workload, move.option, move.before, move.after) for move in moved]
    return sorted(defaults)


def _changed_lines(models: Iterable[ModelChange]) -> Iterator[_EngineLine]:
    """The lines of the workloads of which another version runs. What either side sets is set."""
    for change in models:
        before, after = change.before, change.after
        if before and after and before.leader.image != after.leader.image:
            words = [*before.leader.command, *before.leader.args, *after.leader.command, *after.leader.args]
            known = before.annotations
            yield _EngineLine(
                change.key.place, known.get("backend", ""), known.get("engine version", ""), before.leader.image, words
            )


def _broken_lines(files: Sequence[OutputFile]) -> Iterator[_EngineLine]:
    for item in items(files).values():
        for role in role_items(item).values() if is_workload(item.key, item.body) else ():
            pods = [replica.leader.body for replica in replicas(role.body)]
            containers = [container for pod in pods[:1] for container in maps_at(pod, "spec", "containers")]
            for container in containers:
                if container.get("name") == wellknown.RUNNER:
                    backend, version = (
                        text_at(role.body, "metadata", "annotations", name)
                        for name in (wellknown.BACKEND, wellknown.ENGINE_VERSION)
                    )
                    words = [*texts_at(container, "command"), *texts_at(container, "args")]
                    yield _EngineLine(role.key.place, backend, version, text_at(container, "image"), words)
