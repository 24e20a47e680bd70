"""What comes to the same: fields that differ, or that one side has alone, and mean the same."""

from __future__ import annotations

from typing import Final

from renderer.diff.live.counterparts import parents
from renderer.diff.live.differing_field import DifferingField
from renderer.engines.handwritten_command import common_entry, option_variable, table_entry
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at, value_at
from renderer.kubernetes.variable_references import plain_variables
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import CONTAINERS, is_rendered, pod_templates, replicas
from renderer.secrets.words import REFERENCE

_LABELS: Final = (wellknown.NAME, wellknown.COMPONENT, wellknown.PART_OF, wellknown.MANAGED_BY)
_TOOLS: Final = (
    *("meta.helm.sh/", "helm.sh/", "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/"),
    *("helm.toolkit.fluxcd.io/", "app.kubernetes.io/managed-by"),
)
_LOADED: Final = ("hubRepository", "hubFile", "revision")  # fields of presets/engine_commands.yaml
_LOADER_WORDS: Final = ("MODEL_ID", "MODEL_FILENAME", "REVISION")
_OPERATOR_GROUP: Final = "inference.llmaz.io/"


def has_new_name(differing: DifferingField) -> bool:
    """The name of an object that takes the place of another, a label of its pods, or a selector in them."""
    pair, path = differing.pair, differing.path
    if pair.theirs.key.name == pair.ours.key.name:
        return False
    if not differing.pods:
        return differing.key == ("metadata", "name") or (pair.ours.is_workload and differing.key[1] == "selector")
    if differing.added or differing.dropped:
        return False
    is_label = path[:2] == ("metadata", "labels") or "labelSelector" in path
    return is_label and pair.ours.key.name in str(differing.value)


def is_of_one(differing: DifferingField) -> bool:
    """A parallel size of 1, which the engine takes without the option."""
    if not differing.commands or not (differing.added or differing.dropped):
        return False
    return differing.value == "1" and differing.option in differing.commands[1].parallel_options


def has_usual_port(differing: DifferingField) -> bool:
    """The option of the port, with the number that the engine of theirs listens on by itself."""
    if not differing.added or not differing.commands:
        return False
    theirs, ours = differing.commands
    return differing.option in ours.port_options and differing.value == str(ours.port) and theirs.port is not None


def says_port(differing: DifferingField) -> bool:
    """A variable of ours by which the engine knows its port, which theirs has from elsewhere."""
    if not differing.added or not differing.commands or differing.field[:1] != ("env",):
        return False
    theirs, ours = differing.commands
    return differing.field[1][1:-1] in ours.port_variables and str(theirs.port) == str(differing.value)


def has_token(differing: DifferingField) -> bool:
    """The hub's token in the engine, which a new loader has from the same Secret and key."""
    if not differing.dropped or not differing.commands or not differing.pods or differing.field[:1] != ("env",):
        return False
    theirs = differing.pods.theirs
    variable = theirs.variable(differing.pods.commands[differing.container], differing.field[1][1:-1])
    secret = map_at(variable, "valueFrom", "secretKeyRef")
    wanted_part = {key: secret.get(key) for key in ("name", "key")}
    variables = [entry for loader in differing.pods.ours.loaders for entry in maps_at(loader, "env")]
    references = [map_at(entry, "valueFrom", "secretKeyRef") for entry in variables]
    is_new = not differing.pods.theirs.loaders
    return bool(secret) and is_new and any(wanted_part.items() <= reference.items() for reference in references)


def is_in_secret(differing: DifferingField) -> bool:
    """A variable, or a key of the engine, that theirs has in plain text and ours from a Secret."""
    pods, is_variable = differing.pods, differing.field[:1] == ("env",)
    if not pods or not differing.container or not (is_variable or differing.option):
        return False
    theirs = {} if not differing.commands else differing.commands[0].options
    entry = table_entry(differing.commands[1].backend) if differing.commands else {}
    options = [differing.commands[1].style.name(option) for option in entry.get("apiKey") or () if differing.commands]
    if is_variable:
        names = [differing.field[1][1:-1]]
        former = pods.theirs.variable(pods.name_of_theirs(differing.container), names[0])
        was_plain = "value" in former or (not former and not theirs.keys().isdisjoint(options))
    else:
        own = REFERENCE.findall(str(differing.ours.value)) if differing.ours else entry.get("apiKeyVariables") or ()
        names = [name.strip("$()") for name in own]
        was_plain = differing.option in options and not differing.added
    references = [map_at(pods.ours.variable(differing.container, name), "valueFrom", "secretKeyRef") for name in names]
    return was_plain and bool(references) and all(refers and not refers.get("optional") for refers in references)


def is_in_arguments(differing: DifferingField) -> bool:
    """A variable that the command line of theirs names."""
    if not differing.dropped or not differing.commands or not differing.pods or differing.field[:1] != ("env",):
        return False
    named = differing.pods.theirs.references(differing.pods.commands[differing.container])
    is_said = differing.field[-1] == "value" or "configMapKeyRef" in differing.field
    return differing.field[1][1:-1] in named and is_said


def is_in_command_line(differing: DifferingField) -> bool:
    """A variable by which the engine of theirs knows its weights, name, host or port, which ours says in options."""
    pods, name = differing.pods, _variable(differing)
    if not name or not pods or not differing.commands:
        return False
    theirs, ours = differing.commands
    if name in theirs.port_variables:
        return theirs.port is not None and str(theirs.port) in str(differing.value)
    entry = table_entry(ours.backend)
    if options := [option for option in ours.naming_options if option_variable(entry, option) == name]:
        return differing.value in [ours.options.get(ours.style.name(option)) for option in options]
    if name == entry.get("hostVariable"):
        return any(ours.style.name(option) in ours.options for option in entry.get("host") or ())
    if name not in (entry.get("weightsVariables") or ()):
        return False
    opened = [ours.options.get(ours.style.name(option), "") for option in entry.get("weights") or ()]
    return pods.theirs.weights(str(differing.value)) in [pods.ours.weights(path) for path in opened]


def is_of_hub_cache(differing: DifferingField) -> bool:
    """A variable that says where the engine of theirs keeps what it downloads, which a loader of ours does."""
    pods, name = differing.pods, _variable(differing)
    return bool(name and pods and differing.commands and pods.ours.loaders) and name in common_entry()["hubVariables"]


def _variable(differing: DifferingField) -> str:
    """The variable that theirs alone has in the container of an engine; '' for another field."""
    is_variable = differing.dropped and differing.field[:1] == ("env",) and differing.field[-1] == "value"
    return differing.field[1][1:-1] if is_variable else ""


def is_scheme_of_probe(differing: DifferingField) -> bool:
    """HTTPS in a probe of theirs, where the engine of ours serves HTTP."""
    is_probe = differing.field[:1] in (("startupProbe",), ("readinessProbe",), ("livenessProbe",))
    if not is_probe or differing.field[-1] != "scheme" or not differing.commands or differing.added:
        return False
    ours = differing.commands[1]
    entry = table_entry(ours.backend)
    options = {
        ours.style.name(option) for field in ("certificate", "settingsFile") for option in entry.get(field) or ()
    }
    return differing.dropped and ours.options.keys().isdisjoint(options)


def is_pulled(differing: DifferingField) -> bool:
    """A hook or an init container of theirs that pulls models, which a step of ours before the engine does."""
    pods = differing.pods
    is_hook = differing.field[:2] == ("lifecycle", "postStart") and bool(differing.commands)
    is_step = differing.path[:2] == ("spec", "initContainers")
    if not pods or not pods.ours.engine or not differing.dropped or not (is_hook or is_step):
        return False
    engine = pods.ours.engines[pods.ours.engine].recognised.engine.runtime
    names = {text_at(step, "name") for step in maps_at(map_at(engine.spec, "engine"), "initContainers")}
    has_step = any(body.get("name") in names for body in maps_at(pods.ours.spec, "initContainers"))
    text = " ".join(map(str, list_at({"words": differing.value}, "words")))
    if is_step:
        bodies = maps_at(pods.theirs.spec, "initContainers")
        body = next((body for body in bodies if text_at(body, "name") == differing.path[2][1:-1]), {})
        text = " ".join(map(str, (*list_at(body, "command"), *list_at(body, "args"))))
    return has_step and any(" ".join(words) in text for words in table_entry(engine.name).get("pulls") or ())


def has_no_workers(differing: DifferingField) -> bool:
    """The startup policy of groups of one pod, of a LeaderWorkerSet that llmaz has not rendered."""
    if differing.added or differing.key != ("spec", "startupPolicy") or is_rendered(differing.pair.theirs.body):
        return False
    return all(
        replica.size == 1 for side in (differing.pair.theirs, differing.pair.ours) for replica in replicas(side.view)
    )


def is_unmounted(differing: DifferingField) -> bool:
    """Of a volume of theirs that no container mounts."""
    pods = differing.pods
    if not pods or not differing.dropped or differing.path[:2] != ("spec", "volumes"):
        return False
    containers = [body for key in CONTAINERS for body in maps_at(pods.theirs.spec, key)]
    uses = [use for body in containers for key in ("volumeMounts", "volumeDevices") for use in maps_at(body, key)]
    return differing.path[2][1:-1] not in {text_at(use, "name") for use in uses}


def is_recreated(differing: DifferingField) -> bool:
    """A rollout that ends all old pods before new ones start, of a Deployment that replaces its pods."""
    sides = (differing.pair.theirs, differing.pair.ours)
    if differing.key[:2] != ("spec", "strategy") or text_at(sides[0].view, "spec", "strategy", "type") != "Recreate":
        return False
    bounds = map_at(sides[1].view, "spec", "strategy", "rollingUpdate")
    return bounds == {"maxUnavailable": "100%", "maxSurge": 0}


def has_revision(differing: DifferingField) -> bool:
    """The option of a revision that a new loader loads."""
    if not differing.dropped or differing.option != "--revision" or not differing.pods:
        return False
    revisions = [plain_variables(loader).get("REVISION") for loader in differing.pods.ours.loaders]
    return not differing.pods.theirs.loaders and differing.value in revisions


def is_loaded_model(differing: DifferingField) -> bool:
    """The option or variable of a model, revision or file that a new loader loads."""
    if not differing.dropped or not differing.pods or differing.pods.theirs.loaders or not differing.commands:
        return False
    theirs, entry = differing.commands[0], table_entry(differing.commands[1].backend)
    value: object = differing.value if differing.option else None
    if differing.field[:1] == ("env",) and not differing.option:
        name = differing.field[1][1:-1]
        options = [option for field in _LOADED for option in entry.get(field) or ()]
        is_said = name in {*(entry.get("weightsVariables") or ()), *(option_variable(entry, word) for word in options)}
        value = theirs.variables.get(name) if is_said else None
    variables = [plain_variables(loader) for loader in differing.pods.ours.loaders]
    words = _LOADER_WORDS[:2] if differing.option else _LOADER_WORDS  # an option of a revision has a rule of its own
    return value is not None and value in {loaded.get(name) for loaded in variables for name in words}


def is_repeated(differing: DifferingField) -> bool:
    """An option that theirs has several times, the last time as ours."""
    if not differing.commands or not differing.option or differing.added or differing.dropped:
        return False
    theirs, ours = differing.commands
    last = str(differing.theirs and differing.theirs.value).rpartition(", ")[2]
    return theirs.repeats and ours.style.duplicates == "last" and last == ours.options.get(differing.option)


def requests_limit(differing: DifferingField) -> bool:
    """A request that is the limit of both sides."""
    if (
        not (differing.added or differing.dropped)
        or not differing.pods
        or differing.field[:2] != ("resources", "requests")
    ):
        return False
    side = differing.pods.ours if differing.added else differing.pods.theirs
    old_name = differing.pods.name_of_theirs(differing.container)
    name = differing.container if differing.added else old_name
    part = side.container(name) or next((body for body in side.loaders if body.get("name") == name), {})
    other = differing.pods.theirs if differing.added else differing.pods.ours
    other_name = old_name if differing.added else differing.container
    limits = (map_at(body, "resources", "limits") for body in (part, other.container(other_name)))
    return all(limit.get(differing.field[2]) == differing.value for limit in limits)


def is_of_a_tool(differing: DifferingField) -> bool:
    """A label or annotation of whoever applies manifests."""
    is_tool = differing.path[:1] == ("metadata",) and differing.path[-1].startswith(_TOOLS)
    own = wellknown.own_labels("", "")[wellknown.MANAGED_BY]
    if differing.added:
        return False
    if not differing.dropped:
        return differing.path[-1] == wellknown.MANAGED_BY and differing.value == own
    return is_tool and differing.value != own


def is_own_label(differing: DifferingField) -> bool:
    """A recommended label that is the renderer's in ours."""
    if (
        differing.added
        or differing.dropped
        or differing.path[:2] != ("metadata", "labels")
        or differing.path[-1] not in _LABELS
    ):
        return False
    own = wellknown.own_labels(differing.pair.ours.key.name, "inference-server")
    return differing.value == own[differing.path[-1]] and differing.path[-1] != wellknown.MANAGED_BY


def targets_counterpart(differing: DifferingField) -> bool:
    """Whether an autoscaler has the counterpart of what it scaled."""
    if differing.key[:2] != ("spec", "scaleTargetRef") or differing.pair.ours.key.kind not in wellknown.AUTOSCALERS:
        return False
    place = differing.pair.ours.key.namespace
    old, new = (map_at(side.view, "spec", "scaleTargetRef") for side in (differing.pair.theirs, differing.pair.ours))
    around = differing.pair.around
    scaled = around.theirs.by_name.get((place, text_at(old, "kind"), text_at(old, "name")))
    counterpart = around.pairs.get(id(scaled))
    return bool(counterpart and (counterpart.key.kind, counterpart.key.name) == (new.get("kind"), new.get("name")))


def scales_on_processors(differing: DifferingField) -> bool:
    """What version v1 of an autoscaler says of CPUs, and v2 in metrics."""
    if differing.pair.ours.key.kind != wellknown.HPA:
        return False
    field = ("spec", "targetCPUUtilizationPercentage")
    percentage = value_at(differing.pair.theirs.body, *field)
    if percentage is None:
        return False
    metrics = maps_at(differing.pair.ours.view, "spec", "metrics")
    targets = [value_at(metric, "resource", "target", "averageUtilization") for metric in metrics]
    return targets == [percentage] and differing.key[1] in (field[1], "metrics", "minReplicas", "behavior")


def targets_workload(differing: DifferingField) -> bool:
    """An autoscaler's target that was a kind of the operator's."""
    if differing.key[:2] != ("spec", "scaleTargetRef") or differing.key[-1] == "name":
        return False
    old, new = (map_at(side.view, "spec", "scaleTargetRef") for side in (differing.pair.theirs, differing.pair.ours))
    is_theirs = text_at(old, "apiVersion").startswith(_OPERATOR_GROUP) and old.get("name") == new.get("name")
    return is_theirs and (new.get("kind"), new.get("name")) in differing.pair.around.ours.names


def is_scaled(differing: DifferingField) -> bool:
    """The number of replicas, where an autoscaler of ours sets it."""
    key = differing.pair.ours.key
    return (
        differing.dropped
        and differing.key == ("spec", "replicas")
        and ((key.namespace, key.name) in differing.pair.around.scaled)
    )


def has_claim_template(differing: DifferingField) -> bool:
    """A field of a claim of each pod, which the LeaderWorkerSet in the place of a StatefulSet has too."""
    path, pair = ("spec", "volumeClaimTemplates"), differing.pair
    if not differing.theirs or not differing.dropped or not pair.other_kind or differing.key[:2] != path:
        return False
    index, *field = differing.theirs.place[2:]
    name = value_at(pair.theirs.view, *path, index, "metadata", "name")
    claims = [claim for template in pod_templates(pair.ours.view) for claim in template.claims]
    claim = next((claim for claim in claims if value_at(claim, "metadata", "name") == name), None)
    return claim is not None and (field in (["apiVersion"], ["kind"]) or value_at(claim, *field) == differing.value)


def has_no_selector(differing: DifferingField) -> bool:
    """The selector of a workload in whose place a LeaderWorkerSet stands."""
    is_set = differing.pair.ours.key.kind == wellknown.LEADER_WORKER_SET
    return differing.dropped and is_set and differing.pair.other_kind and differing.key[:2] == ("spec", "selector")


def opens_named_folder(differing: DifferingField) -> bool:
    """Whether the engine opens its weights through a folder of a preset's volume, which is called as the model is."""
    if not differing.commands or not differing.pods or differing.added or differing.dropped:
        return False
    command = differing.commands[1]
    if differing.option != command.model_option:
        return False
    volumes = maps_at(command.recognised.engine.runtime.spec, "engine", "volumes")
    paths = [text_at(volume, "mountPath") for volume in volumes if volume.get("mountPath")]
    return str(differing.value).startswith(tuple(f"{path}/" for path in paths)) if paths else False


def has_same_volume(differing: DifferingField) -> bool:
    """Of a volume with weights, which the other side mounts at another path."""
    pods = differing.pods
    if not pods or not (differing.added or differing.dropped):
        return False
    side, other = (pods.ours, pods.theirs) if differing.added else (pods.theirs, pods.ours)
    source = side.volume_sources.get(_volume_name(differing), "")
    return bool(source) and (
        source in other.source_parents or any(parent in other.sources_of_volumes for parent in parents(source))
    )


def _volume_name(differing: DifferingField) -> str:
    """The volume of a field that one side alone has: its own, or that of a mount of the runner; '' for another one."""
    pods = differing.pods
    if pods and differing.path[:2] == ("spec", "volumes"):
        return differing.path[2][1:-1]
    if pods and differing.container == RUNNER and differing.field[:1] == ("volumeMounts",):
        side = pods.ours if differing.added else pods.theirs
        mounts = side.mounts(RUNNER if differing.added else pods.commands.get(RUNNER, RUNNER))
        return text_at(mounts.get(differing.field[1][1:-1]), "name")
    return ""


def has_same_template(differing: DifferingField) -> bool:
    """Of a volume with a chat template, which the engine of the other side reads from the same key of a ConfigMap."""
    pods = differing.pods
    if not pods or not (differing.added or differing.dropped):
        return False
    own, other = pods.ours.chat_template, pods.theirs.chat_template
    if not own or not other or own.mount_path == other.mount_path:
        return False
    if (own.config_map, own.key) != (other.config_map, other.key):
        return False
    return _volume_name(differing) == (own if differing.added else other).volume


def has_same_models(differing: DifferingField) -> bool:
    """Of the file from which an engine reads the options of models that the other side serves too, or of an option that
    is in it on one side and on the command line on the other.
    """
    pods = differing.pods
    other = pods.theirs.models if pods else None
    if not pods or not other or not pods.ours.engine:
        return False
    ours = pods.ours.engines[pods.ours.engine]
    own = pods.ours.models or other.on_line(ours.style, ours.options)
    if own is None or not own.serves(other):
        return False
    if differing.option:
        return differing.option in (own.options if differing.added else other.options)
    if name := _variable(differing):
        return name in other.variables
    file = own.file if differing.added or not differing.dropped else other.file
    if differing.added or differing.dropped:
        return file is not None and _volume_name(differing) == file.volume
    return file is not None and differing.path[:2] == ("spec", "volumes") and differing.path[2][1:-1] == file.volume
