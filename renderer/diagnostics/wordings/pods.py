"""Wordings about workloads and pods: resources, podTemplate, images, names, autoscalers, prefill and decode."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

PODS: Final[dict[str, Wording]] = {
    "W202": Wording("replicas has no effect: the autoscaler owns the number", "leave it out"),
    "W203": Wording("without metrics an HPA scales on 80 % CPU, which says little about a model server", "set metrics"),
    "W322": Wording(
        "whether the image of {backend} runs as any user is unknown, and OpenShift runs it as a user of its namespace",
        "try it, or give the pod's service account an SCC that lets the image keep its user",
    ),
    "W323": Wording(
        "the NetworkPolicies do not let Prometheus read the engines' metrics, which autoscaling.metricSource collects",
        "write where it runs: {{from: [{{namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: "
        "monitoring}}}}}}]}}",
    ),
    "W204": Wording(
        "no user is known that this image can run as, so it still runs as root",
        "set one under engine.security, or set hardening: default",
    ),
    "W205": Wording(
        "the template has its own nodeAffinity, so that of the flavors is left out",
        "set flavorPolicy: first, or remove the nodeAffinity of the template",
    ),
    "W208": Wording(
        "no container of the leader is called model-runner, so nothing mounts the models there",
        "give the container that serves the model this name",
    ),
    "W219": Wording(
        "no user is known that the container '{name}' can run as, so it may run as root",
        "a namespace that enforces PodSecurity restricted refuses the pod; write securityContext: {{runAsNonRoot: "
        "true, capabilities: {{drop: [ALL]}}}}",
    ),
    "W220": Wording(
        "with type: none nothing reads a PodMonitor, so none is rendered",
        "write type: prometheusAdapter, or leave podMonitor out",
    ),
    "W238": Wording("the tag '{tag}' names no version: the image changes when the tag is moved", "{hint}"),
    "W239": Wording(
        "{name} puts the metrics behind a key, so Prometheus cannot read them and the queue is unknown",
        "scale on something else, or let the gateway check the key",
    ),
    "E247": Wording("'{value}' is not an image reference", "write it as oci://registry/repository@sha256:…"),
    "E248": Wording("'{value}' names no fixed image", "add a digest, or a tag other than latest"),
    "E249": Wording(
        "image volumes need Kubernetes 1.35, the target is {target}",
        "if the cluster has it, set targets.kubernetes in RenderConfig",
    ),
    "E250": Wording(
        "{value} of {name}: only whole accelerators can be requested",
        "request whole ones; a share, such as a MIG slice, is a resource with its own name",
    ),
    "E251": Wording("a pod gets two kinds of accelerators: {names}", "keep one of them"),
    "E252": Wording("{value} of {name}: parts of accelerators cannot work together", "request 1"),
    "W252": Wording(
        "{hook} calls port {asked}, where no container is known to listen: {runner} listens on {port}{where}",
        "call {port}, or add {asked} to the ports of the container that listens there",
    ),
    "E253": Wording(
        "{name} '{value}' is not a whole number above 0 with at most 15 digits", "write digits only, as in 2 or 8192"
    ),
    "W253": Wording(
        "the toleration of '{name}' is lost: the pod stays pending if only nodes with that taint have room for it",
        "leave out the item $patch: replace, or write that toleration too",
    ),
    "W254": Wording(
        "'{name}' has the port {port} of '{other}': the containers of a pod share its ports, so only one can listen",
        "give one of them another port",
    ),
    "E255": Wording(
        "{size} accelerators for one model, but those of {name} cannot work together",
        "lower it, or use a flavor with other accelerators",
    ),
    "W325": Wording(
        "'{name}' is the engine's spelling: the adapter of charts/llmaz serves it to HPAs as '{known}'",
        "write {known}",
        replaces=("name", "known"),
    ),
    "E324": Wording(
        "{field} has no effect in any pod of '{app}': {why}",
        "write backendRuntimeConfig.envs, which all pods have",
    ),
    "W324": Wording(
        "{field} has no effect in any pod of '{app}': {why}",
        "write them where all pods of this workload have them, such as the role's envs",
    ),
    "N325": Wording(
        "the container '{name}' with an image of {backend} runs beside model-runner, which is the engine's container",
        "to give the engine this image, write name: model-runner",
    ),
    "W382": Wording(
        "the podTemplate selects nodes with {type}, and flavor '{flavor}' those with {other}, for which limits and "
        "options are chosen",
        "claim a flavor of nodes with {type}, or leave the label out",
    ),
    "W399": Wording(
        "namespace '{namespace}' enforces Pod Security {level}, and refuses these pods: they have {why}",
        "{hint}",
    ),
    "W326": Wording(
        "the podTemplate adds another container, '{name}'", "did you mean '{meant}'?", replaces=("name", "meant")
    ),
    "W308": Wording(
        "the image of {backend} starts as root, so with runAsNonRoot the kubelet does not start it",
        "{hint}",
    ),
    "W309": Wording(
        "the image of {backend} has no user {user}, so the engine finds no home directory and no user name",
        "{hint}",
    ),
    "W300": Wording("{what} contains a secret in plain text", "{hint}"),
    "W259": Wording(
        "pods of several hosts use the host network, and no {missing} names the interface over which they communicate",
        "write envs: [{{name: {first}, value: eth0}}] with the interface's name on the nodes",
    ),
    "W258": Wording(
        "with hostNetwork, pods of several hosts look up their leader in the node's DNS, which does not know it",
        "write dnsPolicy: ClusterFirstWithHostNet beside it",
    ),
    "E848": Wording(
        "the container runs as root, which runAsNonRoot forbids: the kubelet does not start it",
        "write another runAsUser, or runAsNonRoot: false",
    ),
    "W847": Wording(
        "the toleration of '{key}' has {has}, and taints of nodes have {values}: it tolerates none of them",
        "write value: '{value}', or operator: Exists without a value",
    ),
    "E846": Wording(
        "minDomains goes with whenUnsatisfiable: DoNotSchedule alone, this is {value}",
        "leave minDomains out, or write whenUnsatisfiable: DoNotSchedule",
    ),
    "E260": Wording(
        "the request {request} of {name} is above its limit {limit}",
        "{hint}",
    ),
    "E261": Wording(
        "the request {request} of {name} is above its limit {limit}",
        "{hint}",
    ),
    "E262": Wording(
        "'{name}' listens on {port}, where {runner} already listens{where}: the containers of a pod share its ports",
        "give it another port",
    ),
    "E263": Wording("$patch: replace has to be an item of its own", "write the toleration as another item"),
    "E264": Wording(
        "{name} turns off the metrics of the engine, so nothing feeds the autoscaler's {metric}",
        "leave {name} out, or scale on something else",
    ),
    "E270": Wording("replicas {value} is below 0"),
    "E271": Wording("maxReplicas is missing", "an autoscaler needs an upper bound; write maxReplicas"),
    "E272": Wording("minReplicas {value} is below 1", "{hint}"),
    "E273": Wording("minReplicas {low} is above maxReplicas {high}", "lower minReplicas or raise maxReplicas"),
    "E274": Wording("scaleTrigger has no hpa", "write scaleTrigger.hpa.metrics, or leave scaleTrigger out"),
    "E275": Wording(
        "no metric to scale on is set",
        "to scale on the queue of '{backend}', write autoscaling: {{metricSource: {{type: {source}}}}} in spec of "
        "RenderConfig; to scale on metrics of your own, write elasticConfig.scaleTrigger.hpa.metrics",
    ),
    "E276": Wording(
        "no queue metric of '{backend}' is known",
        "write elasticConfig.scaleTrigger.hpa.metrics; for your own engine, set it under engine.scale",
    ),
    "E277": Wording("the label '{key}' is set by the renderer", "leave it out"),
    "E278": Wording("engine.metrics has no '{metric}'", "add that metric there, or scale on another"),
    "E279": Wording(
        "the path of the metrics of '{backend}' is unknown, so nothing would feed an autoscaler",
        "write engine.metrics.path, or elasticConfig.scaleTrigger.hpa.metrics",
    ),
    "E280": Wording("'{name}' cannot be the name of a workload", "{hint}"),
    "W280": Wording(
        "{owner} renders the DisaggregatedSet '{name}', which no autoscaler can scale as a whole",
        "target a role, apiVersion: disaggregatedset.x-k8s.io/v1, kind: DisaggregatedSetRoleScaler, name: {scalers}",
    ),
    "E281": Wording(
        "'{name}' has {length} characters, at most {limit} fit",
        "shorten the name to {most} characters; Services and Pods are named after it",
    ),
    "E282": Wording(
        "'{name}' is not a valid namespace name",
        "use small letters, digits and '-', at most 63 characters",
    ),
    "E283": Wording("'{name}' cannot be the name of an object", "{hint}"),
    "E285": Wording("size {value} is below 1"),
    "E286": Wording(
        "no container of {key} is called model-runner", "give the container that serves the model this name"
    ),
    "E287": Wording("the volume '{name}' has the name of a volume that the model needs", "rename the volume"),
    "E288": Wording(
        "'{name}' is also the name of a Service that '{other}' needs, in {file}:{line}", "give one of them another name"
    ),
    "E291": Wording("'{name}' is set by the renderer, or by LeaderWorkerSet", "use a key with your own domain"),
    "E292": Wording("there is no '{name}' to delete", "{hint}"),
    "E293": Wording("{field} of model-runner cannot be changed here", "{hint}"),
    "E294": Wording("'{name}' is given twice", "merge the two into one"),
    "E295": Wording("no container is called '{name}', and a new one needs an image", "{hint}"),
    "E296": Wording(
        "'{name}' cannot be deleted: it is the container that serves the model",
        "leave $patch out, or change its fields",
    ),
    "E297": Wording(
        "'{field}' has no meaning beside $patch: delete",
        "leave $patch out to change it, or {field} out to delete it",
    ),
    "E298": Wording("'{value}' is {what}", "{hint}"),
    "E299": Wording("{what}", "{hint}", about="two settings of the pod exclude each other: {what}"),
    "E330": Wording(
        "LeaderWorkerSet itself creates a headless Service called '{name}'",
        "write workload.kind: Deployment if each replica is one pod, or use another name",
    ),
    "W330": Wording(
        "a Service of type {type} bypasses the gateway, so spec.gateway.allow does not apply to its clients",
        "leave type out, and let clients outside the cluster come through the Gateway",
    ),
    "W331": Wording(
        "the container '{name}' stops as soon as its pod terminates, and drops requests that the engine still answers",
        "move it to initContainers of the podTemplate with restartPolicy: Always, so that it stops after the engine; "
        "or give it a preStop hook",
    ),
    "E332": Wording(
        "no container of the pod listens on {port}, only {ports}",
        "write the port into ports of the container that answers",
    ),
    "W332": Wording(
        "the picker of the pool reads the engine's metrics at this port too",
        "make sure that the container passes {path} on to the engine",
    ),
    "E333": Wording(
        "priorityClass is for Kueue, and without a queue Kueue ignores the workload",
        "write queue too, or set priorityClassName in podTemplate.spec for the scheduler's own priority",
    ),
    "E327": Wording(
        "the pods have no label {label}, and the API server refuses a selector that does not select them",
        "write the label below podTemplate.metadata.labels; where llmaz itself sets another value, name the workload "
        "otherwise, without a selector",
    ),
    "E328": Wording(
        "this selector leads to the pods {others} too",
        "leave it out; where a Deployment of this name has it already, name the workload otherwise",
    ),
    "E334": Wording("a replica has {size} pods here, and only one in a Deployment", "leave kind out"),
    "W334": Wording(
        "maxSurge {surge} with a queue: a rollout waits until the quota has room for additional replicas",
        "write rollout.maxSurge: 0",
    ),
    "E335": Wording("a {kind} has no {field}", "leave it out, or {remedy}"),
    "E336": Wording(
        "Kueue identifies replicas by their index, and with groupIdentity Hash they have none",
        "leave groupIdentity out, or the queue",
    ),
    "W336": Wording(
        "requests arrive only at port {port}, but the {ranks} data parallel ranks of a pod have a port each ({ports})",
        "leave spec.gateway.port out, or make sure that the container there spreads requests over these ports",
    ),
    "E337": Wording(
        "the flavor claims devices in RenderConfig's catalog, and {name} would request more of them",
        "leave {name} out of the limits, or claims out of the catalog",
    ),
    "W337": Wording(
        "the Service leads to port {port}, which only the first of {ranks} data parallel ranks of a pod has: its "
        "clients never reach the others",
        "let clients come through the Gateway; or set gateway.mode to backend, where the ranks share a port",
    ),
    "E338": Wording(
        "presets/accelerators.yaml has no DeviceClass '{name}', so the vendor of its devices is unknown",
        "{hint}",
    ),
    "W338": Wording(
        "the Service leads only to leaders, since workers of {headless} do not serve requests: the other pods of "
        "{serving} get no requests from it",
        "write a Service for each of them beside the Playground, or give flavors the same parallelism",
    ),
    "E339": Wording(
        "claims of devices need resource.k8s.io/v1, which Kubernetes has since 1.34, and the target is {target}",
        "write targets.kubernetes: '1.34' if every cluster has it, or limits instead of claims",
    ),
    "E350": Wording(
        "an HPA cannot query Prometheus itself",
        "write type: prometheusAdapter, or autoscaling.autoscaler: keda",
    ),
    "N350": Wording("the {owner} owns the number of replicas, so the {kind} '{name}' leaves it out"),
    "W350": Wording("this has no effect while the autoscaler is an HPA", "write autoscaler: keda, or leave it out"),
    "E351": Wording(
        "KEDA has to query Prometheus here, and its address is not set",
        "write autoscaling.keda.prometheus.serverAddress in RenderConfig, or scale on cpu",
    ),
    "W351": Wording(
        "requests end after {value}, before {what}, which may take {seconds}s",
        "write {seconds}s or more",
    ),
    "E352": Wording(
        "{present} does nothing without {lacking}",
        "write {lacking} too, or leave {present} out",
    ),
    "E353": Wording(
        "no query is known for the {kind} metric '{name}'{why}",
        "{hint}; or leave elasticConfig out, and write your own ScaledObject",
    ),
    "E354": Wording(
        "a model with several variants cannot scale to zero: a held request does not tell which of them to start",
        "write minReplicas: 1 or more, or give each flavor its own Playground",
    ),
    "E355": Wording(
        "the interceptor also holds requests for '{model}' for {other}, and cannot tell them apart",
        "give one of them another public name, or minReplicas: 1 or more",
    ),
    "W355": Wording(
        "it listens on port {port} of its node, like the {kind} {other} on the same nodes: one of the two stays "
        "pending",
        "give them different nodes, or leave hostNetwork out",
    ),
    "W329": Wording(
        "with hostNetwork the pod looks up '{name}' in the DNS of its node, which does not know it",
        "write dnsPolicy: ClusterFirstWithHostNet beside hostNetwork",
    ),
    "E358": Wording(
        "'{name}', in {file}:{line}, has the name of a StatefulSet that LeaderWorkerSet makes for workers of '{app}'",
        "give one of them another name",
    ),
    "E375": Wording(
        "prefill and decode need a picker that chooses pods of both, and gateway.mode is {mode}",
        "write spec.gateway.mode: pool, or leave spec.disaggregation out",
    ),
    "W375": Wording(
        "prefill shares the model among {prefill} accelerators and decode among {decode}: in this direction the engine "
        "transfers KV cache only for models with latent attention (MLA) or without attention",
        "{hint}",
    ),
    "E376": Wording(
        "the picker '{name}' does not support prefill and decode: the prefill pods of '{app}' would get no requests",
        "pickers that do: {able}",
    ),
    "E377": Wording("'{backend}' {what}, which prefill and decode need", "{hint}; or leave spec.disaggregation out"),
    "E378": Wording(
        "{role} runs the image '{image}', and {other} '{other_image}', in {file}:{line}: both must be the same",
        "a role's podTemplate replaces the whole spec.podTemplate: give the roles none, or set the image in a "
        "BackendRuntime",
    ),
    "E379": Wording(
        "prefill shares the model among {prefill} accelerators and decode among {decode}, and the engine cannot "
        "transfer KV cache from one to the other",
        "{hint}",
    ),
    "E380": Wording(
        "{role} runs {place}, and {other} {other_place}, in {file}:{line}: they could not read each other's KV cache",
        "give both roles flavors with accelerators of one vendor, or without any",
    ),
    "E381": Wording(
        "{role} has {given}, and {other} {said}: they could not read each other's KV cache",
        "write it in spec.backendRuntimeConfig.args, for both",
    ),
    "E383": Wording(
        "{given} is already set by disaggregation, in {file}:{line}",
        "leave it out: each role gets its own",
    ),
    "E384": Wording("{key} cannot be combined with spec.disaggregation", "{hint}"),
    "E385": Wording(
        "prefill pods answer {prefill}, and decode pods {decode}: their common pool has the same ports in all of its "
        "pods, and selects either whole groups or leaders",
        "give both roles the same kind of sizes, with the same number of data parallel ranks in a pod",
    ),
    "E386": Wording(
        "'{name}' is the name of the picker's sidecar in pods of the role decode", "give your container another name"
    ),
    "E387": Wording(
        "a DisaggregatedSet of LeaderWorkerSet {version} has a fixed number of replicas, and {asks}",
        "write targets.leaderWorkerSet: '0.10' or above if every cluster has it, or {instead}",
    ),
    "E388": Wording(
        "pipeline {prefill} in prefill and {decode} in decode: the engine cannot transfer KV cache between such sizes",
        "{hint}",
    ),
    "E389": Wording(
        "0 replicas of {role} beside {count} of {other}: a DisaggregatedSet has replicas of all roles, or of none",
        "give both roles some, or write disaggregation.kind: LeaderWorkerSet",
    ),
    "E390": Wording(
        "the LeaderWorkerSet of this role is called '{name}' ({length} characters); at most {limit} fit its pods",
        "shorten the name of the set or of the role by {less}",
    ),
    "W390": Wording(
        "the controller of a DisaggregatedSet overwrites the label {label} with its own value: {value}",
        "use another key, here and in what selects by it",
    ),
    "E391": Wording("a DisaggregatedSet refuses {what}", "{hint}"),
    "W391": Wording(
        "with scaling.mode External spec.replicas has no effect: what scales '{scaler}' sets the number",
        "leave it out",
    ),
    "E392": Wording("an autoscaler cannot scale {what}", "{hint}"),
    "E393": Wording(
        "the {kind} '{name}' selects no pod of the DisaggregatedSet '{workload}' by {label}: {why}",
        "leave this label out, or fix its value",
    ),
    "W849": Wording(
        "the container has no variable '{name}', so Kubernetes leaves $({name}), and the engine gets that text",
        "add it to the variables of the container, or write the value itself",
    ),
}
