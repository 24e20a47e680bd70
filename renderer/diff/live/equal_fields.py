"""What comes to the same: fields that differ, or that one side has alone, and mean the same."""

from __future__ import annotations

from typing import Final

from renderer.diff.live import command_options
from renderer.diff.live.counterparts import parents
from renderer.diff.live.finding import Finding
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import pod_templates

_LABELS: Final = (wellknown.NAME, wellknown.COMPONENT, wellknown.PART_OF, wellknown.MANAGED_BY)
_TOOLS: Final = (
    *("meta.helm.sh/", "helm.sh/", "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/"),
    *("helm.toolkit.fluxcd.io/", "app.kubernetes.io/managed-by"),
)
_OPERATOR_GROUP: Final = "inference.llmaz.io/"


def is_of_one(finding: Finding) -> bool:
    """A parallel size of 1, which the engine takes without the option."""
    if not finding.commands or not (finding.added or finding.dropped):
        return False
    return finding.value == "1" and finding.option in finding.commands[1].parallel_options


def has_usual_port(finding: Finding) -> bool:
    """The option of the port, with the number that the engine of theirs listens on by itself."""
    if not finding.added or not finding.commands:
        return False
    theirs, ours = finding.commands
    return finding.option in ours.port_options and finding.value == str(ours.port) and theirs.port is not None


def has_token(finding: Finding) -> bool:
    """The hub's token in the engine, which a new loader has from the same Secret and key."""
    if not finding.dropped or not finding.commands or not finding.pods or finding.field[:1] != ("env",):
        return False
    theirs = finding.pods.theirs
    variable = theirs.variable(finding.pods.commands[finding.container], finding.field[1][1:-1])
    secret = map_at(variable, "valueFrom", "secretKeyRef")
    wanted_part = {key: secret.get(key) for key in ("name", "key")}
    variables = [entry for loader in finding.pods.ours.loaders for entry in maps_at(loader, "env")]
    references = [map_at(entry, "valueFrom", "secretKeyRef") for entry in variables]
    is_new = not finding.pods.theirs.loaders
    return bool(secret) and is_new and any(wanted_part.items() <= reference.items() for reference in references)


def is_in_arguments(finding: Finding) -> bool:
    """A variable that the command line of theirs names."""
    if not finding.dropped or not finding.commands or not finding.pods or finding.field[:1] != ("env",):
        return False
    named = finding.pods.theirs.references(finding.pods.commands[finding.container])
    return finding.field[1][1:-1] in named and finding.field[-1] == "value"


def has_revision(finding: Finding) -> bool:
    """The option of a revision that a new loader loads."""
    if not finding.dropped or finding.option != "--revision" or not finding.pods:
        return False
    revisions = [command_options.plain_variables(loader).get("REVISION") for loader in finding.pods.ours.loaders]
    return not finding.pods.theirs.loaders and finding.value in revisions


def is_loaded_model(finding: Finding) -> bool:
    """The option of a model or file that a new loader loads."""
    if not finding.dropped or not finding.option or not finding.pods or finding.pods.theirs.loaders:
        return False
    variables = [command_options.plain_variables(loader) for loader in finding.pods.ours.loaders]
    return finding.value in {loaded.get(name) for loaded in variables for name in ("MODEL_ID", "MODEL_FILENAME")}


def is_repeated(finding: Finding) -> bool:
    """An option that theirs has several times, the last time as ours."""
    if not finding.commands or not finding.option or finding.added or finding.dropped:
        return False
    theirs, ours = finding.commands
    last = str(finding.theirs and finding.theirs.value).rpartition(", ")[2]
    return theirs.repeats and ours.style.duplicates == "last" and last == ours.options.get(finding.option)


def requests_limit(finding: Finding) -> bool:
    """A request that is the limit of both sides."""
    if not (finding.added or finding.dropped) or not finding.pods or finding.field[:2] != ("resources", "requests"):
        return False
    side = finding.pods.ours if finding.added else finding.pods.theirs
    commands = finding.pods.commands
    name = finding.container if finding.added else commands.get(finding.container, finding.container)
    part = side.container(name) or next((body for body in side.loaders if body.get("name") == name), {})
    other = finding.pods.theirs if finding.added else finding.pods.ours
    other_name = commands.get(finding.container, finding.container) if finding.added else finding.container
    limits = (map_at(body, "resources", "limits") for body in (part, other.container(other_name)))
    return all(limit.get(finding.field[2]) == finding.value for limit in limits)


def is_of_a_tool(finding: Finding) -> bool:
    """A label or annotation of whoever applies manifests."""
    is_tool = finding.path[:1] == ("metadata",) and finding.path[-1].startswith(_TOOLS)
    own = wellknown.own_labels("", "")[wellknown.MANAGED_BY]
    if finding.added:
        return False
    if not finding.dropped:
        return finding.path[-1] == wellknown.MANAGED_BY and finding.value == own
    return is_tool and finding.value != own


def is_own_label(finding: Finding) -> bool:
    """A recommended label that is the renderer's in ours."""
    if (
        finding.added
        or finding.dropped
        or finding.path[:2] != ("metadata", "labels")
        or finding.path[-1] not in _LABELS
    ):
        return False
    own = wellknown.own_labels(finding.pair.ours.key.name, "inference-server")
    return finding.value == own[finding.path[-1]] and finding.path[-1] != wellknown.MANAGED_BY


def targets_counterpart(finding: Finding) -> bool:
    """Whether an autoscaler has the counterpart of what it scaled."""
    if finding.key[:2] != ("spec", "scaleTargetRef") or finding.pair.ours.key.kind not in wellknown.AUTOSCALERS:
        return False
    place = finding.pair.ours.key.namespace
    old, new = (map_at(side.view, "spec", "scaleTargetRef") for side in (finding.pair.theirs, finding.pair.ours))
    around = finding.pair.around
    scaled = around.theirs.by_name.get((place, text_at(old, "kind"), text_at(old, "name")))
    counterpart = around.pairs.get(id(scaled))
    return bool(counterpart and (counterpart.key.kind, counterpart.key.name) == (new.get("kind"), new.get("name")))


def scales_on_processors(finding: Finding) -> bool:
    """What version v1 of an autoscaler says of CPUs, and v2 in metrics."""
    field = ("spec", "targetCPUUtilizationPercentage")
    percentage = value_at(finding.pair.theirs.body, *field)
    if percentage is None or finding.pair.ours.key.kind != wellknown.HPA:
        return False
    metrics = maps_at(finding.pair.ours.view, "spec", "metrics")
    targets = [value_at(metric, "resource", "target", "averageUtilization") for metric in metrics]
    return targets == [percentage] and finding.key[1] in (field[1], "metrics", "minReplicas", "behavior")


def targets_workload(finding: Finding) -> bool:
    """An autoscaler's target that was a kind of the operator's."""
    if finding.key[:2] != ("spec", "scaleTargetRef") or finding.key[-1] == "name":
        return False
    old, new = (map_at(side.view, "spec", "scaleTargetRef") for side in (finding.pair.theirs, finding.pair.ours))
    is_theirs = text_at(old, "apiVersion").startswith(_OPERATOR_GROUP) and old.get("name") == new.get("name")
    return is_theirs and (new.get("kind"), new.get("name")) in finding.pair.around.ours.names


def is_scaled(finding: Finding) -> bool:
    """The number of replicas, where an autoscaler of ours sets it."""
    key = finding.pair.ours.key
    return (
        finding.dropped
        and finding.key == ("spec", "replicas")
        and ((key.namespace, key.name) in finding.pair.around.scaled)
    )


def has_claim_template(finding: Finding) -> bool:
    """A field of a claim of each pod, which the LeaderWorkerSet in the place of a StatefulSet has too."""
    path, pair = ("spec", "volumeClaimTemplates"), finding.pair
    if not finding.theirs or not finding.dropped or not pair.other_kind or finding.key[:2] != path:
        return False
    index, *field = finding.theirs.place[2:]
    name = value_at(pair.theirs.view, *path, index, "metadata", "name")
    claims = [claim for template in pod_templates(pair.ours.view) for claim in template.claims]
    claim = next((claim for claim in claims if value_at(claim, "metadata", "name") == name), None)
    return claim is not None and (field in (["apiVersion"], ["kind"]) or value_at(claim, *field) == finding.value)


def has_no_selector(finding: Finding) -> bool:
    """The selector of a workload in whose place a LeaderWorkerSet stands."""
    is_set = finding.pair.ours.key.kind == wellknown.LEADER_WORKER_SET
    return finding.dropped and is_set and finding.pair.other_kind and finding.key[:2] == ("spec", "selector")


def opens_named_folder(finding: Finding) -> bool:
    """Whether the engine opens its weights through a folder of a preset's volume, which is called as the model is."""
    if not finding.commands or not finding.pods or finding.added or finding.dropped:
        return False
    command = finding.commands[1]
    if finding.option != command.model_option:
        return False
    volumes = maps_at(command.recognised.engine.runtime.spec, "engine", "volumes")
    paths = [text_at(volume, "mountPath") for volume in volumes if volume.get("mountPath")]
    return str(finding.value).startswith(tuple(f"{path}/" for path in paths)) if paths else False


def has_same_volume(finding: Finding) -> bool:
    """Of a volume with weights, which the other side mounts at another path."""
    pods = finding.pods
    if not pods or not (finding.added or finding.dropped):
        return False
    side, other = (pods.ours, pods.theirs) if finding.added else (pods.theirs, pods.ours)
    if finding.path[:2] == ("spec", "volumes"):
        name = finding.path[2][1:-1]
    elif finding.container == RUNNER and finding.field[:1] == ("volumeMounts",):
        mounts = side.mounts(RUNNER if finding.added else pods.commands.get(RUNNER, RUNNER))
        name = text_at(mounts.get(finding.field[1][1:-1]), "name")
    else:
        return False
    source = side.volume_sources.get(name, "")
    return bool(source) and (
        source in other.source_parents or any(parent in other.sources_of_volumes for parent in parents(source))
    )
