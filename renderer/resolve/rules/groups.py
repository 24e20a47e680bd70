"""What does not go with groups of several pods: names that do not fit, or that another workload has."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import App
from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.kubernetes.wellknown import LEADER_WORKER_SET
from renderer.resolve import names
from renderer.resolve.context import RunContext
from renderer.resolve.workload.engine_process import OWN_ENVS
from renderer.resolve.workload.scaling import PlannedScaling


@rule(of=PlannedScaling, when=lambda planned: planned.run.size.parallelism.hosts > 1)
def too_long_names(scaling: PlannedScaling) -> Iterator[Diagnostic]:
    """An error for a name to which the number of a group does not fit."""
    yield from names.invalid_group_names(scaling.app, scaling.most_groups)


@rule(of=PlannedScaling, when=lambda planned: planned.run.size.parallelism.hosts > 1)
def other_workers(scaling: PlannedScaling) -> Iterator[Diagnostic]:
    """An error for each app whose workload is called as a group's workers are."""
    run = scaling.run
    yield from taken_worker_sets(run.base.context, run.base.app, scaling.most_groups)


@rule(of=PlannedScaling, when=lambda planned: "workload" in planned.app.spec)
def unread_envs(scaling: PlannedScaling) -> Iterator[Diagnostic]:
    """An error for variables of leaders or workers alone where a replica has no such pods; a warning where a role or
    another variant may have them.
    """
    app, hosts = scaling.app, scaling.run.size.parallelism.hosts
    why = "a replica is one pod" if hosts == 1 else "all pods of a replica have one template, and all answer requests"
    for key in OWN_ENVS if scaling.worker is None else ():
        if app.spec["workload"].get(key):
            code = "W324" if app.role or app.variant_of else "E324"
            yield make_diagnostic(code, app.origin("spec", "workload", key, key=True), field=key, app=app.name, why=why)


def taken_worker_sets(context: RunContext, app: App, groups: int) -> Iterator[Diagnostic]:
    """An error for each app whose workload has the name `<app>-<index>` of a group's workers, of which LeaderWorkerSet
    makes a StatefulSet, as of another one's leaders.
    """
    for (namespace, name), other in context.apps.items():
        index = name.removeprefix(f"{app.name}-")
        if namespace != app.namespace or index == name or not (index.isascii() and index.isdigit()):
            continue
        if str(int(index)) == index and int(index) < groups and other.workload_kind == LEADER_WORKER_SET:
            file, line, _ = other.origin("metadata", "name").place
            params = {"name": name, "app": app.name, "file": file, "line": line}
            yield make_diagnostic("E358", app.origin("metadata", "name"), **params)
