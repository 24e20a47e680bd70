"""The rules that explain why a value, or the lack of one, is right; docs/live.md lists them.

A rule of MEANINGS says that two values come to the same: `fields.py` works out what each comes to. One of EXPLANATIONS
looks at a field that one side has alone, or that differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from renderer.diff.live import added_fields, equal_fields, immutable_fields, operator_deviations
from renderer.diff.live.differing_field import (
    CONTAINER,
    ENGINE,
    OBJECT,
    OPTION_OF_ENGINE,
    OURS,
    POD,
    THEIRS,
    DifferingField,
)
from renderer.diff.live.records import ADDS, EQUAL, IMMUTABLE


class LiveRule(Struct, frozen=True):
    """A rule, and what it makes of a difference."""

    name: str
    effect: str  # EQUAL, ADDS or IMMUTABLE
    sentence: str
    fits: Callable[[DifferingField], bool] = lambda differing: False
    deviation: int = 0
    of: int = OBJECT  # the least part of an object that all fields are in which it may fit
    ground: str = ""  # of EQUAL: what makes it equal in the API server, the kubelet, a controller or the engine
    side: str = ""  # OURS or THEIRS: it fits fields of this side alone


MEANINGS: Final = (
    LiveRule(
        "container-name",
        EQUAL,
        "The container that runs the engine is called model-runner.",
        ground="kubelet: a container has its name in the pod's status and in the folder of its logs alone "
        "(pkg/kubelet/kuberuntime/helpers.go, BuildContainerLogsDirectory); no process reads it.",
    ),
    LiveRule(
        "image-name",
        EQUAL,
        "An image without a registry is from docker.io, one without a folder from library.",
        ground="kubelet: an image without a registry is from docker.io, and from its folder library "
        "(pkg/util/parsers/parsers.go, ParseImageName, by distribution/reference's ParseNormalizedNamed).",
    ),
    LiveRule(
        "json",
        EQUAL,
        "The value of an option is the same JSON.",
        ground="The engine reads the value as JSON, in which fields have no order.",
    ),
    LiveRule(
        "order",
        EQUAL,
        "The order of these values does not matter.",
        ground="kubelet gives the runtime both lists of capabilities (pkg/kubelet/kuberuntime/security_context.go,"
        " convertToRuntimeCapabilities), which has them as a set.",
    ),
    LiveRule(
        "port",
        EQUAL,
        "The engine listens on another port, or names it differently, and options, ports of the container, probes and "
        "targets of Services agree.",
        ground="kubelet asks the number that a name of the container's ports has (pkg/probe/util.go, "
        "ResolveContainerPort); EndpointSlices have for each pod the number of the Service's target "
        "(k8s.io/endpointslice/utils.go, FindPort).",
    ),
    LiveRule(
        "selector",
        EQUAL,
        "The selector leads to the same pods, by the labels that they have on its side.",
        ground="Endpoints of a Service are the pods that all labels of the selector match "
        "(pkg/controller/endpointslice/endpointslice_controller.go, syncService; "
        "k8s.io/apimachinery/pkg/labels/selector.go, Matches), as are those of a budget "
        "(pkg/controller/disruption/disruption.go, getPodsForPdb).",
    ),
    LiveRule(
        "start",
        EQUAL,
        "The preset's command starts the same engine.",
        ground="kubelet: command takes the place of the image's entrypoint, and args of its words "
        "(pkg/kubelet/container/helpers.go, ExpandContainerCommandAndArgs).",
    ),
    LiveRule(
        "volume-name",
        EQUAL,
        "The volume at this path has another name.",
        ground="API server: a mount names a volume of its own pod (pkg/apis/core/validation/validation.go, "
        "ValidateVolumeMounts), and kubelet finds it by that name there (pkg/kubelet/kubelet_pods.go, "
        "makeMounts); nothing outside of the pod reads it.",
    ),
    LiveRule(
        "weights",
        EQUAL,
        "The engine opens files that a loader or a volume takes from the same source as theirs.",
        ground="kubelet mounts a volume at the path that the mount names (pkg/kubelet/kubelet_pods.go, "
        "makeMounts); the engine opens the same files there.",
    ),
)
"""Rules by which two values come to the same."""

REFUSALS: Final = (
    LiveRule(
        "immutable-field",
        IMMUTABLE,
        "Nobody can change this in the object that runs: the apply is refused, while all else of it goes through. Give "
        "ours another name, or the value of theirs (a Deployment's is workload.selector); see "
        "docs/migrating.md#without-an-outage.",
        immutable_fields.is_immutable,
    ),
    LiveRule(
        "other-kind",
        IMMUTABLE,
        "An object of another kind does not change the one that runs: both run until somebody deletes one. Give ours "
        "another name; see docs/migrating.md#without-an-outage.",
        immutable_fields.is_of_another_kind,
    ),
)
"""Rules about what no apply changes, which come before all others."""

EXPLANATIONS: Final = (
    LiveRule(
        "new-name",
        EQUAL,
        "The new workload has a name of its own, and so have labels by which the old pods are found: nothing leads to "
        "both.",
        equal_fields.has_new_name,
        ground="API server: an object of another name is another object; a selector leads to pods whose labels "
        "have its values (k8s.io/apimachinery/pkg/labels/selector.go, Matches).",
    ),
    LiveRule(
        "default-port",
        EQUAL,
        "The port is set, where theirs uses the engine's default.",
        equal_fields.has_usual_port,
        of=OPTION_OF_ENGINE,
        side=OURS,
        ground="The engine listens on that port without the option (presets/engine_commands.yaml, defaultPort).",
    ),
    LiveRule(
        "port-variable",
        EQUAL,
        "A variable says the port, which theirs has from a ConfigMap.",
        equal_fields.says_port,
        of=ENGINE,
        side=OURS,
        ground="kubelet sets the variables of envFrom first, and lets those of env replace them "
        "(pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables).",
    ),
    LiveRule(
        "weights-volume",
        EQUAL,
        "The weights are in the same volume, at another path.",
        equal_fields.has_same_volume,
        of=POD,
        ground="kubelet mounts the same volume at the path that the mount names (pkg/kubelet/kubelet_pods.go, "
        "makeMounts).",
    ),
    LiveRule(
        "template-volume",
        EQUAL,
        "The chat template is the same key of a ConfigMap, at another path.",
        equal_fields.has_same_template,
        of=POD,
        ground="kubelet mounts the same key at the path that the mount names (pkg/kubelet/kubelet_pods.go, "
        "makeMounts); the engine opens the file there.",
    ),
    LiveRule(
        "models-file",
        EQUAL,
        "The engine reads the same models with the same options from a file of ours.",
        equal_fields.has_same_models,
        of=POD,
        ground="The engine serves what its file says of each model (tools/server/server-models.cpp), by its "
        "section and by its alias.",
    ),
    LiveRule(
        "named-folder",
        EQUAL,
        "The engine opens its weights from a folder with the model's name.",
        equal_fields.opens_named_folder,
        of=OPTION_OF_ENGINE,
        ground="The engine opens the folder; the link in it leads to the same files.",
    ),
    LiveRule(
        "size-of-one",
        EQUAL,
        "A size of one is the engine's default.",
        equal_fields.is_of_one,
        of=OPTION_OF_ENGINE,
        ground="The default of the option in the engine's own list (presets/backends/flags).",
    ),
    LiveRule(
        "hub-token",
        EQUAL,
        "The loader has the token, from the same Secret and key: the engine contacts no hub.",
        equal_fields.has_token,
        of=ENGINE,
        side=THEIRS,
        ground="kubelet sets the variables of each container, init containers' too, from the same key of the "
        "Secret (pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables).",
    ),
    LiveRule(
        "secret-reference",
        EQUAL,
        "Ours has this from a Secret, which has to hold the same value.",
        equal_fields.is_in_secret,
        of=CONTAINER,
        ground="kubelet sets the variable to what the key of the Secret holds, and starts no container without it "
        "(pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables).",
    ),
    LiveRule(
        "argument-variable",
        EQUAL,
        "The arguments hold the value that this variable filled in.",
        equal_fields.is_in_arguments,
        of=ENGINE,
        side=THEIRS,
        ground="kubelet fills in $(NAME) of command and args before the container starts "
        "(pkg/kubelet/container/helpers.go, ExpandContainerCommandAndArgs; "
        "third_party/forked/golang/expansion/expand.go, Expand).",
    ),
    LiveRule(
        "variable-of-option",
        EQUAL,
        "The command line says what this variable says.",
        equal_fields.is_in_command_line,
        of=ENGINE,
        side=THEIRS,
        ground="The engine takes the option before the variable (its entry in presets/engine_commands.yaml).",
    ),
    LiveRule(
        "cache-of-hub",
        EQUAL,
        "The loader brings the weights, so the engine keeps no downloads in this folder.",
        equal_fields.is_of_hub_cache,
        of=ENGINE,
        side=THEIRS,
        ground="The engine opens a folder, and so asks no hub and writes to no cache of it.",
    ),
    LiveRule(
        "probe-scheme",
        EQUAL,
        "The engine of ours has no certificate, so its probes use HTTP.",
        equal_fields.is_scheme_of_probe,
        of=ENGINE,
        side=THEIRS,
        ground="API server: a probe without a scheme has HTTP (pkg/apis/core/v1/defaults.go, "
        "SetDefaults_HTTPGetAction); kubelet asks by it, and verifies no certificate "
        "(pkg/probe/http/http.go, New).",
    ),
    LiveRule(
        "unmounted-volume",
        EQUAL,
        "No container mounts this volume.",
        equal_fields.is_unmounted,
        of=POD,
        side=THEIRS,
        ground="kubelet gives a container only the volumes that it mounts (pkg/kubelet/kubelet_pods.go, makeMounts).",
    ),
    LiveRule(
        "pulled-model",
        EQUAL,
        "A step before the engine pulls what a hook or an init container pulled.",
        equal_fields.is_pulled,
        of=POD,
        side=THEIRS,
        ground="kubelet starts a container when all init containers have ended "
        "(pkg/kubelet/kuberuntime/kuberuntime_container.go, computeInitContainerActions), and runs a "
        "postStart hook beside it (startContainer); the engine finds the model in its folder.",
    ),
    LiveRule(
        "recreate",
        ADDS,
        "A rollout tells all old pods to end before it starts new ones. Unlike Recreate it does not wait until they "
        "are gone: a new one may wait for their accelerators or volumes.",
        equal_fields.is_recreated,
    ),
    LiveRule(
        "loaded-model",
        EQUAL,
        "The loader loads this model or file, which the engine opens.",
        equal_fields.is_loaded_model,
        of=ENGINE,
        side=THEIRS,
        ground="The engine opens the path to which the loader has loaded it.",
    ),
    LiveRule(
        "revision",
        EQUAL,
        "The loader loads this revision.",
        equal_fields.has_revision,
        of=OPTION_OF_ENGINE,
        side=THEIRS,
        ground="The hub's client of the loader gets the revision.",
    ),
    LiveRule(
        "request-of-limit",
        EQUAL,
        "Without a request, Kubernetes uses the limit as the request.",
        equal_fields.requests_limit,
        of=CONTAINER,
        ground="API server: a pod gets its requests from its limits (pkg/apis/core/v1/defaults.go, SetDefaults_Pod).",
    ),
    LiveRule(
        "tool",
        EQUAL,
        "The tool that applies manifests writes this for itself.",
        equal_fields.is_of_a_tool,
        ground="API server: no controller of Kubernetes reads these labels and annotations.",
    ),
    LiveRule(
        "own-label",
        EQUAL,
        "The recommended labels name the renderer's app.",
        equal_fields.is_own_label,
        ground="API server: the recommended labels mean nothing to it; those of selectors are compared by themselves.",
    ),
    LiveRule(
        "autoscaler-of-counterpart",
        EQUAL,
        "The autoscaler scales the workload that replaces its target.",
        equal_fields.targets_counterpart,
        ground="HPA controller: it scales what scaleTargetRef names, by its scale subresource "
        "(pkg/controller/podautoscaler/horizontal.go, scaleForResourceMappings).",
    ),
    LiveRule(
        "cpu-target",
        EQUAL,
        "The autoscaler has the same target for CPUs, as a metric.",
        equal_fields.scales_on_processors,
        ground="API server: targetCPUUtilizationPercentage of v1 is a metric of v2 "
        "(pkg/apis/autoscaling/v1/conversion.go, "
        "Convert_v1_HorizontalPodAutoscalerSpec_To_autoscaling_HorizontalPodAutoscalerSpec).",
    ),
    LiveRule(
        "no-selector",
        EQUAL,
        "A LeaderWorkerSet finds its pods by itself.",
        equal_fields.has_no_selector,
        side=THEIRS,
        ground="LeaderWorkerSet's controller gives its StatefulSets a selector of their own "
        "(pkg/controllers/leaderworkerset_controller.go, constructLeaderStatefulSetApplyConfiguration).",
    ),
    LiveRule(
        "claim-template",
        EQUAL,
        "The LeaderWorkerSet has the same claim for each pod.",
        equal_fields.has_claim_template,
        side=THEIRS,
        ground="LeaderWorkerSet's controller copies the claims into its StatefulSets "
        "(pkg/controllers/leaderworkerset_controller.go, constructLeaderStatefulSetApplyConfiguration; for "
        "workers pod_controller.go).",
    ),
    LiveRule(
        "autoscaler-target",
        EQUAL,
        "The autoscaler targets the LeaderWorkerSet.",
        equal_fields.targets_workload,
        deviation=1,
        ground="HPA controller: it scales what scaleTargetRef names (pkg/controller/podautoscaler/horizontal.go, "
        "scaleForResourceMappings); LeaderWorkerSet has a scale subresource "
        "(api/leaderworkerset/v1/leaderworkerset_types.go).",
    ),
    LiveRule(
        "scaled-replicas",
        EQUAL,
        "The autoscaler alone sets the replicas.",
        equal_fields.is_scaled,
        deviation=2,
        side=THEIRS,
        ground="API server: an apply takes away only what the same field manager had applied before "
        "(sigs.k8s.io/structured-merge-diff/merge/update.go, prune); the autoscaler has written replicas as"
        " another one.",
    ),
    LiveRule(
        "startup-policy",
        EQUAL,
        "Workers of a group are created without waiting for a ready leader.",
        operator_deviations.starts_workers,
        deviation=4,
        ground="LeaderWorkerSet's controller: LeaderReady alone waits with the workers until the leader is ready "
        "(pkg/controllers/pod_controller.go, Reconcile); the engine waits for its ranks.",
    ),
    LiveRule(
        "no-workers",
        EQUAL,
        "A group of one pod has no workers that could wait for it.",
        equal_fields.has_no_workers,
        ground="LeaderWorkerSet's controller makes no StatefulSet of workers for groups of one pod "
        "(pkg/controllers/pod_controller.go, Reconcile).",
    ),
    LiveRule(
        "parallel-size",
        ADDS,
        "Tensor parallelism follows the accelerators.",
        added_fields.distributes,
        deviation=6,
        of=OPTION_OF_ENGINE,
        side=OURS,
    ),
    LiveRule(
        "device-claim",
        ADDS,
        "The pods claim the devices of the flavor.",
        added_fields.claims_devices,
        of=POD,
        side=OURS,
    ),
    LiveRule(
        "preset-image",
        ADDS,
        "The preset's image, where theirs names none and its controller takes one of its own.",
        added_fields.has_own_image,
        of=ENGINE,
    ),
    LiveRule(
        "nodes",
        ADDS,
        "The labels of the flavor choose nodes.",
        added_fields.chooses_nodes,
        deviation=7,
        of=POD,
        side=OURS,
    ),
    LiveRule(
        "served-name",
        ADDS,
        "The engine gets the name that it answers to anyway.",
        added_fields.has_served_name,
        of=OPTION_OF_ENGINE,
        side=OURS,
    ),
    LiveRule(
        "host-folder",
        EQUAL,
        "A folder of the node is mounted once, read-only.",
        operator_deviations.mounts_host,
        deviation=9,
        of=POD,
        ground="kubelet mounts the same folder of the node (pkg/kubelet/kubelet_pods.go, makeMounts); the engine "
        "writes nothing there.",
    ),
    LiveRule(
        "bucket",
        ADDS,
        "A loader that can read the bucket loads the weights.",
        operator_deviations.loads_bucket,
        deviation=9,
        of=CONTAINER,
    ),
    LiveRule(
        "labels",
        ADDS,
        "Objects and pods have labels and annotations that say what runs.",
        added_fields.has_labels,
        deviation=10,
        side=OURS,
    ),
    LiveRule(
        "activator",
        EQUAL,
        "Without an activator, nothing reads this.",
        operator_deviations.was_for_activator,
        deviation=12,
        side=THEIRS,
        ground="Only the operator's activator reads it (docs/deviations.md).",
    ),
    LiveRule(
        "listed-twice",
        EQUAL,
        "An item that is listed twice counts once.",
        operator_deviations.is_listed_twice,
        deviation=12,
        side=THEIRS,
        ground="An entry that is there twice with the same value says nothing more than one.",
    ),
    LiveRule(
        "default-revision",
        EQUAL,
        "ModelScope has its own default revision.",
        operator_deviations.omits_revision,
        deviation=12,
        of=CONTAINER,
        side=THEIRS,
        ground="ModelScope's client takes the default of the repository.",
    ),
    LiveRule(
        "own-amount",
        EQUAL,
        "A limit that the user has set is not raised.",
        operator_deviations.has_own_amount,
        deviation=12,
        of=CONTAINER,
        ground="The scheduler and kubelet take the amount that the object says; API server: it fills in a request "
        "where none is said alone (pkg/apis/core/v1/defaults.go, SetDefaults_Pod).",
    ),
    LiveRule(
        "model-labels",
        ADDS,
        "All pods are labelled with their model.",
        added_fields.has_model_labels,
        deviation=12,
        side=OURS,
    ),
    LiveRule(
        "loader-resources",
        ADDS,
        "The loader requests resources.",
        operator_deviations.has_loader_resources,
        deviation=12,
        of=CONTAINER,
        side=OURS,
    ),
    LiveRule(
        "last-option",
        EQUAL,
        "If an option is given twice, the last one counts.",
        equal_fields.is_repeated,
        deviation=13,
        of=OPTION_OF_ENGINE,
        ground="The engine's parser keeps the last value of an option that it gets twice.",
    ),
    LiveRule(
        "loader",
        ADDS,
        "An init container loads the weights into a volume.",
        added_fields.loads_weights,
        of=POD,
        side=OURS,
    ),
    LiveRule("hardening", ADDS, "Pods are hardened.", added_fields.is_hardened, deviation=11, of=POD, side=OURS),
    LiveRule(
        "shared-memory",
        ADDS,
        "Shared memory has a size that is enough for the engine.",
        added_fields.shares_memory,
        of=POD,
        side=OURS,
    ),
    LiveRule(
        "probes", ADDS, "The preset's probes, where theirs has none.", added_fields.is_new_probe, of=ENGINE, side=OURS
    ),
    LiveRule(
        "preset-probe",
        ADDS,
        "The preset's probe sets this, where theirs has the API server's default.",
        added_fields.is_preset_probe,
        of=ENGINE,
    ),
    LiveRule(
        "certificate-probe",
        ADDS,
        "The engine has a certificate, so its probes use HTTPS, where theirs has the API server's default.",
        added_fields.probes_certificate,
        of=ENGINE,
    ),
    LiveRule("drain", ADDS, "A pod has time to finish its answers before it ends.", added_fields.drains, of=POD),
    LiveRule(
        "loaded-files",
        ADDS,
        "A loader loads the files that this option names, such as adapters.",
        added_fields.is_loaded,
        of=OPTION_OF_ENGINE,
        side=OURS,
    ),
    LiveRule(
        "preset-option",
        ADDS,
        "The preset sets this option.",
        added_fields.is_preset_option,
        of=OPTION_OF_ENGINE,
        side=OURS,
    ),
    LiveRule(
        "hub-cache",
        ADDS,
        "The engine opens the files in the hub's cache, and contacts no hub.",
        added_fields.loads_from_cache,
        of=ENGINE,
        side=OURS,
    ),
    LiveRule(
        "preset-step", ADDS, "The preset's own steps, volumes and files.", added_fields.prepares, of=POD, side=OURS
    ),
    LiveRule(
        "engine-label",
        ADDS,
        "The picker of a pool knows the engine by this label.",
        added_fields.names_engine,
        of=POD,
        side=OURS,
    ),
    LiveRule(
        "preset-variable", ADDS, "The preset sets this variable.", added_fields.is_preset_variable, of=ENGINE, side=OURS
    ),
    LiveRule(
        "hub-access",
        ADDS,
        "The engine has the hub's token, where its Secret is there.",
        added_fields.has_hub_access,
        of=CONTAINER,
        side=OURS,
    ),
    LiveRule(
        "preset-request",
        ADDS,
        "The preset requests this much, where theirs requests nothing.",
        added_fields.is_preset_request,
        of=ENGINE,
        side=OURS,
    ),
    LiveRule(
        "tolerations",
        ADDS,
        "Pods tolerate the taint of nodes with accelerators.",
        added_fields.is_tolerated,
        of=POD,
        side=OURS,
    ),
    LiveRule(
        "fewer-pods",
        ADDS,
        "While a rollout goes on, fewer pods answer than before: each ends before its successor starts, which needs "
        "no extra accelerator. Where some are free, write workload.rollout: {maxSurge: 1, maxUnavailable: 0}.",
        added_fields.leaves_fewer_pods,
    ),
    LiveRule(
        "rollout", ADDS, "A rollout needs no extra accelerator, and has time to load weights.", added_fields.rolls_out
    ),
    LiveRule("workload-kind", ADDS, "A LeaderWorkerSet has these fields.", added_fields.is_of_the_kind, side=OURS),
    LiveRule(
        "named-port", ADDS, "The port has a name, and the container declares it.", added_fields.serves_port, side=OURS
    ),
)
"""Rules about a field of one side alone, or one that differs; the first that fits counts."""

RULES: Final[Mapping[str, LiveRule]] = {rule.name: rule for rule in (*REFUSALS, *MEANINGS, *EXPLANATIONS)}


def refuse(differing: DifferingField) -> LiveRule | None:
    """The rule by which no apply changes the field; None for any other field."""
    for rule in REFUSALS:
        if rule.fits(differing):
            return rule
    return None


def explain(differing: DifferingField) -> LiveRule | None:
    """The first rule that fits."""
    for rule in rules_about(differing.part, differing.side):
        if rule.fits(differing):
            return rule
    return None


@cache
def rules_about(part: int, side: str) -> tuple[LiveRule, ...]:
    """The explanations that may fit a field in this part of an object, of this side alone or of both."""
    return tuple(rule for rule in EXPLANATIONS if rule.of <= part and rule.side in ("", side))
