"""Where the renderer differs from the llmaz operator on purpose (docs/deviations.md)."""

from __future__ import annotations

from typing import Final

from renderer.diff.live import command_options
from renderer.diff.live.finding import Finding
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import replicas

_ACTIVATOR: Final = "activator.llmaz.io/"


def starts_workers(finding: Finding) -> bool:
    """The startup policy of a group of several hosts."""
    ours, theirs = finding.pair.ours.view, finding.pair.theirs.view
    if finding.key != ("spec", "startupPolicy") or all(replica.size == 1 for replica in replicas(ours)):
        return False
    return (value_at(theirs, *finding.key), value_at(ours, *finding.key)) == ("LeaderReady", "LeaderCreated")


def mounts_host(finding: Finding) -> bool:
    """A folder of the node is mounted once, read-only, where the operator adds a second volume of its name."""
    if not finding.pods or not finding.pair.of_operator:
        return False
    twice = "[model-volume again]"
    if finding.path[:2] == ("spec", "volumes"):
        return finding.path[2] == twice or (
            finding.path[-2:] == ("hostPath", "type") and (finding.added or finding.is_filled_in)
        )
    names = [text_at(volume, "name") for volume in maps_at(finding.pods.theirs.spec, "volumes")]
    is_twice = names.count("model-volume") > 1
    return is_twice and finding.field[:2] == ("volumeMounts", "[/workspace/models/]") and finding.dropped


def loads_bucket(finding: Finding) -> bool:
    """Buckets load: the operator's loader gets no settings for them."""
    if not finding.of_loader or not finding.pods or not finding.pair.of_operator:
        return False
    old = next((body for body in finding.pods.theirs.loaders if body.get("name") == finding.container), {})
    new = next((body for body in finding.pods.ours.loaders if body.get("name") == finding.container), {})
    names = {*command_options.plain_variables(old)}
    has_settings = "MODEL_ID" in names or "BUCKET" in names
    is_copied = "DEST" in command_options.plain_variables(new)
    return bool(old) and not has_settings and is_copied and finding.field[0] in ("image", "command", "args", "env")


def has_loader_resources(finding: Finding) -> bool:
    """An amount of a loader's resources."""
    return finding.added and finding.of_loader and finding.field[:1] == ("resources",) and finding.pair.of_operator


def omits_revision(finding: Finding) -> bool:
    """The revision main of a model of ModelScope."""
    if not finding.dropped or not finding.of_loader or finding.field[:2] != ("env", "[REVISION]") or not finding.pods:
        return False
    hubs = [command_options.plain_variables(body).get("MODEL_HUB_NAME") for body in finding.pods.ours.loaders]
    return "ModelScope" in hubs and finding.pair.of_operator


def has_own_amount(finding: Finding) -> bool:
    """The user's limit, which the operator raises to what the preset requests."""
    pods = finding.pods
    if not pods or not finding.pair.of_operator or finding.field[:1] != ("resources",) or finding.container != RUNNER:
        return False
    name = finding.field[2]
    old, new = (
        [map_at(side.container(RUNNER), "resources", part).get(name) for part in ("limits", "requests")]
        for side in (pods.theirs, pods.ours)
    )
    if None in old + new or old[0] != old[1] or new[0] != new[1]:
        return False
    return quantity.nanos(old[0]) > quantity.nanos(new[0])


def was_for_activator(finding: Finding) -> bool:
    """An annotation of the operator's activator."""
    return (
        finding.dropped
        and finding.path[:2] == ("metadata", "annotations")
        and (finding.path[-1].startswith(_ACTIVATOR))
    )


def is_listed_twice(finding: Finding) -> bool:
    """A second entry with the same name in a list."""
    again = [part for part in finding.path if part.endswith(" again]")]
    return finding.dropped and finding.pair.of_operator and bool(again)
