"""Where the renderer differs from the llmaz operator on purpose (docs/deviations.md)."""

from __future__ import annotations

from typing import Final

from renderer.diff.live.differing_field import DifferingField
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.kubernetes.variable_references import plain_variables
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import replicas

_ACTIVATOR: Final = "activator.llmaz.io/"


def starts_workers(differing: DifferingField) -> bool:
    """The startup policy of a group of several hosts."""
    ours, theirs = differing.pair.ours.view, differing.pair.theirs.view
    if differing.key != ("spec", "startupPolicy") or all(replica.size == 1 for replica in replicas(ours)):
        return False
    return (value_at(theirs, *differing.key), value_at(ours, *differing.key)) == ("LeaderReady", "LeaderCreated")


def mounts_host(differing: DifferingField) -> bool:
    """A folder of the node is mounted once, read-only, where the operator adds a second volume of its name."""
    if not differing.pods or not differing.pair.of_operator:
        return False
    twice = "[model-volume again]"
    if differing.path[:2] == ("spec", "volumes"):
        return differing.path[2] == twice or (
            differing.path[-2:] == ("hostPath", "type") and (differing.added or differing.is_filled_in)
        )
    names = [text_at(volume, "name") for volume in maps_at(differing.pods.theirs.spec, "volumes")]
    is_twice = names.count("model-volume") > 1
    return is_twice and differing.field[:2] == ("volumeMounts", "[/workspace/models/]") and differing.dropped


def loads_bucket(differing: DifferingField) -> bool:
    """Buckets load: the operator's loader gets no settings for them."""
    if not differing.of_loader or not differing.pods or not differing.pair.of_operator:
        return False
    old = next((body for body in differing.pods.theirs.loaders if body.get("name") == differing.container), {})
    new = next((body for body in differing.pods.ours.loaders if body.get("name") == differing.container), {})
    names = {*plain_variables(old)}
    has_settings = "MODEL_ID" in names or "BUCKET" in names
    is_copied = "DEST" in plain_variables(new)
    return bool(old) and not has_settings and is_copied and differing.field[0] in ("image", "command", "args", "env")


def has_loader_resources(differing: DifferingField) -> bool:
    """An amount of a loader's resources."""
    return (
        differing.added and differing.of_loader and differing.field[:1] == ("resources",) and differing.pair.of_operator
    )


def omits_revision(differing: DifferingField) -> bool:
    """The revision main of a model of ModelScope."""
    if (
        not differing.dropped
        or not differing.of_loader
        or differing.field[:2] != ("env", "[REVISION]")
        or not differing.pods
    ):
        return False
    hubs = [plain_variables(body).get("MODEL_HUB_NAME") for body in differing.pods.ours.loaders]
    return "ModelScope" in hubs and differing.pair.of_operator


def has_own_amount(differing: DifferingField) -> bool:
    """The user's limit, which the operator raises to what the preset requests."""
    pods = differing.pods
    if (
        not pods
        or not differing.pair.of_operator
        or differing.field[:1] != ("resources",)
        or differing.container != RUNNER
    ):
        return False
    name = differing.field[2]
    old, new = (
        [map_at(side.container(RUNNER), "resources", part).get(name) for part in ("limits", "requests")]
        for side in (pods.theirs, pods.ours)
    )
    if None in old + new or old[0] != old[1] or new[0] != new[1]:
        return False
    return quantity.nanos(old[0]) > quantity.nanos(new[0])


def was_for_activator(differing: DifferingField) -> bool:
    """An annotation of the operator's activator."""
    return (
        differing.dropped
        and differing.path[:2] == ("metadata", "annotations")
        and (differing.path[-1].startswith(_ACTIVATOR))
    )


def is_listed_twice(differing: DifferingField) -> bool:
    """A second entry with the same name in a list."""
    again = [part for part in differing.path if part.endswith(" again]")]
    return differing.dropped and differing.pair.of_operator and bool(again)
