"""Wordings about workloads and pods: resources, podTemplate, images, names, autoscalers, prefill and decode."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

PODS: Final[dict[str, Wording]] = {
    "W202": Wording("replicas has no effect: the autoscaler owns the number", "leave it out"),
    "W203": Wording(
        "without metrics an HPA scales on 80 % CPU, which says little about a model server", "name metrics"
    ),
    "W322": Wording(
        "nobody knows whether the image of {backend} runs as any user, and OpenShift gives it one of its namespace",
        "try it, or give the pod's service account an SCC that lets the image keep its user",
    ),
    "W323": Wording(
        "the NetworkPolicies let no Prometheus read the engines' metrics, which autoscaling.metricSource collects",
        "write where it runs: {{from: [{{namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: "
        "monitoring}}}}}}]}}",
    ),
    "W204": Wording(
        "nobody knows a user that this image can run as, so it keeps root",
        "say it under engine.security, or set hardening: default",
    ),
    "W205": Wording(
        "the template has a nodeAffinity of its own, so the flavors' is left out",
        "set flavorPolicy: first, or drop the template's",
    ),
    "W208": Wording(
        "no container of the leader is called model-runner, so nothing mounts the models there",
        "call the container that serves the model so",
    ),
    "W219": Wording(
        "nobody knows a user that the container '{name}' can run as, so it may run as root",
        "a namespace that enforces PodSecurity restricted refuses the pod; write securityContext: "
        "{{runAsNonRoot: true, capabilities: {{drop: [ALL]}}}}",
    ),
    "W220": Wording(
        "nothing reads a PodMonitor while the type is none, so none is made",
        "write type: prometheusAdapter, or leave podMonitor out",
    ),
    "W238": Wording("the tag '{tag}' names no version: what runs changes when somebody moves it", "{hint}"),
    "W239": Wording(
        "{name} puts the metrics behind a key, so Prometheus is turned away and the queue stays unknown",
        "scale on something else, or let the gateway ask for the key",
    ),
    "E247": Wording("'{value}' is not an image reference", "write it as oci://registry/repository@sha256:…"),
    "E248": Wording("'{value}' names no fixed image", "add a digest, or a tag other than latest"),
    "E249": Wording(
        "image volumes need Kubernetes 1.35, the target is {target}",
        "if the cluster has it, say so in RenderConfig under targets.kubernetes",
    ),
    "E250": Wording(
        "{value} of {name}: only whole accelerators can be given", "a share of one has a resource name of its own"
    ),
    "E251": Wording("a pod gets two kinds of accelerators: {names}", "keep one of them"),
    "E252": Wording("{value} of {name}: parts of accelerators cannot work together", "ask for 1"),
    "W252": Wording(
        "{hook} asks port {asked}, where nobody is known to listen: {runner} listens on {port}{where}",
        "ask {port}, or add {asked} to the ports of the container that listens there",
    ),
    "E253": Wording("{name} '{value}' is not a whole number above 0", "write digits only, as in 2 or 8192"),
    "W253": Wording(
        "the toleration of '{name}' is lost: the pod stays pending where only nodes with that taint have room for it",
        "leave out the item $patch: replace, or write that toleration too",
    ),
    "W254": Wording(
        "'{name}' has the port {port} of '{other}': the containers of a pod share its ports, so one cannot listen",
        "give one of them another port",
    ),
    "E255": Wording(
        "{size} accelerators for one model, and of {name} none works together with another",
        "lower it, or take a flavor with other accelerators",
    ),
    "E324": Wording(
        "{field} acts in no pod of '{app}': {why}",
        "write backendRuntimeConfig.envs, which all pods have",
    ),
    "W324": Wording(
        "{field} acts in no pod of '{app}': {why}",
        "write them where all pods of this workload have them, such as the role's envs",
    ),
    "W326": Wording("the podTemplate adds a container of its own, '{name}'", "did you mean '{meant}'?"),
    "W308": Wording("the image of {backend} starts as root, which runAsNonRoot makes kubelet refuse", "{hint}"),
    "W309": Wording(
        "the image of {backend} has no user {user}, so the engine finds no home and no name of it", "{hint}"
    ),
    "W300": Wording("{what} has its secret written out", "{hint}"),
    "W259": Wording(
        "pods of several hosts on the node's network, and no {missing} says over which of its interfaces they speak",
        "write envs: [{{name: {first}, value: eth0}}] with the name that the interface has on the nodes",
    ),
    "W258": Wording(
        "hostNetwork on pods of several hosts, which then ask the node's DNS for their leader, and it does not know it",
        "write dnsPolicy: ClusterFirstWithHostNet beside it",
    ),
    "E260": Wording(
        "the request {request} of {name} is above its limit {limit}", "raise the limit or lower the request"
    ),
    "E261": Wording(
        "the request {request} of {name} is above its limit {limit}", "raise the limit or lower the request"
    ),
    "E262": Wording(
        "'{name}' listens on {port}, where {runner} does already{where}: the containers of a pod share its ports",
        "give it another port",
    ),
    "E263": Wording("$patch: replace stands in an item of its own", "write the toleration as another item"),
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
        "nothing says what to scale on",
        "write elasticConfig.scaleTrigger.hpa.metrics, give the BackendRuntime '{backend}' a scaleTrigger, or set "
        "autoscaling.metricSource in RenderConfig",
    ),
    "E276": Wording(
        "nobody knows a queue metric of '{backend}'",
        "write elasticConfig.scaleTrigger.hpa.metrics; an engine of your own says it under engine.scale",
    ),
    "E277": Wording("the label '{key}' is set by the renderer", "leave it out"),
    "E278": Wording("engine.metrics says nothing of '{metric}'", "name that metric there, or scale on another"),
    "E279": Wording(
        "nobody knows where the metrics of '{backend}' are read, so nothing would feed an autoscaler",
        "write engine.metrics.path, or elasticConfig.scaleTrigger.hpa.metrics",
    ),
    "E280": Wording("'{name}' cannot name a workload", "{hint}"),
    "W280": Wording(
        "{owner} renders the DisaggregatedSet '{name}', which no autoscaler can scale as a whole",
        "target a role, apiVersion: disaggregatedset.x-k8s.io/v1, kind: DisaggregatedSetRoleScaler, name: {scalers}",
    ),
    "E281": Wording(
        "'{name}' has {length} characters, at most {limit} fit",
        "shorten the name to {most} characters; Services and Pods are named after it",
    ),
    "E282": Wording(
        "'{name}' is not a name of a namespace", "use small letters, digits and '-', at most 63 characters"
    ),
    "E283": Wording("'{name}' cannot be the name of an object", "{hint}"),
    "E285": Wording("size {value} is below 1"),
    "E286": Wording(
        "no container of {key} is called model-runner", "give the container that serves the model this name"
    ),
    "E287": Wording("the volume '{name}' has the name of one that the model needs", "rename the volume"),
    "E288": Wording(
        "'{name}' is also the name of a Service that '{other}' needs, in {file}:{line}", "give one of them another name"
    ),
    "E291": Wording("'{name}' is set by the renderer, or by LeaderWorkerSet", "take a key of your own domain"),
    "E292": Wording("there is no '{name}' to delete", "{hint}"),
    "E293": Wording("{field} of model-runner: not to be changed here", "{hint}"),
    "E294": Wording("'{name}' is given twice", "merge the two into one"),
    "E295": Wording("no container is called '{name}', and a new one needs an image", "{hint}"),
    "E296": Wording("'{name}' cannot be deleted", "it is the container that serves the model"),
    "E297": Wording("'{field}' has no meaning beside $patch: delete", "leave one of the two out"),
    "E298": Wording("'{value}' is {what}", "{hint}"),
    "E299": Wording("{what}", "{hint}", about="two settings of the pod exclude each other: {what}"),
    "E330": Wording(
        "LeaderWorkerSet makes a headless Service called '{name}' itself",
        "write workload.kind: Deployment where replicas are one pod each, or take another name",
    ),
    "W330": Wording(
        "a Service of type {type} leads past the gateway, so spec.gateway.allow does not count for its clients",
        "leave type out, and let clients outside the cluster come through the Gateway",
    ),
    "W331": Wording(
        "the container '{name}' ends at once when its pod ends, and loses the requests that the engine still answers",
        "write it into initContainers of the podTemplate with restartPolicy: Always, then it ends after the engine; or "
        "give it a preStop hook",
    ),
    "E332": Wording(
        "no container of the pod listens on {port}, only {ports}",
        "write the port into ports of the container that answers",
    ),
    "W332": Wording(
        "the picker of the pool reads the engine's metrics at this port too",
        "see to it that the container passes {path} on to the engine",
    ),
    "E333": Wording(
        "priorityClass is Kueue's, and without a queue Kueue leaves the workload alone",
        "write queue too, or priorityClassName into podTemplate.spec for the scheduler's own priority",
    ),
    "E334": Wording("a replica of {size} pods, and those of a Deployment are one pod each", "leave kind out"),
    "W334": Wording(
        "maxSurge {surge} in a queue: a rollout waits until the quota has room for more replicas than there are",
        "write rollout.maxSurge: 0",
    ),
    "E335": Wording("a Deployment has no {field}", "leave it out, or leave kind out"),
    "E336": Wording(
        "Kueue knows replicas by their numbers, and with groupIdentity Hash they have none",
        "leave groupIdentity out, or the queue",
    ),
    "W336": Wording(
        "requests come to the port {port} alone, and the {ranks} data parallel ranks of a pod have one each ({ports})",
        "leave spec.gateway.port out, or see to it that the container there spreads them over these",
    ),
    "E337": Wording(
        "the flavor claims devices in RenderConfig's catalog, and {name} would ask for more of them",
        "leave {name} out of the limits, or claims out of the catalog",
    ),
    "W337": Wording(
        "the Service leads to the port {port}, that of the first of {ranks} data parallel ranks of a pod: its clients "
        "never reach the others",
        "let clients come through the Gateway; or set gateway.mode to backend, where the ranks share a port",
    ),
    "E338": Wording(
        "presets/accelerators.yaml has no DeviceClass '{name}', so nobody knows whose devices it gives", "{hint}"
    ),
    "W338": Wording(
        "the Service leads to leaders alone, since workers of {headless} do not answer; so the other pods of {serving} "
        "get nothing from it",
        "write a Service for each of them beside the Playground, or give flavors the same parallelism",
    ),
    "E339": Wording(
        "devices are claimed by resource.k8s.io/v1, which Kubernetes has from 1.34 on, and the target is {target}",
        "write targets.kubernetes: '1.34' where every cluster has it, or limits instead of claims",
    ),
    "E350": Wording(
        "an HPA does not ask Prometheus itself",
        "write type: prometheusAdapter, or autoscaling.autoscaler: keda",
    ),
    "N350": Wording("the {owner} owns the number of replicas, so the {kind} '{name}' leaves it out"),
    "W350": Wording(
        "nothing reads it while the autoscaler is an HPA",
        "write autoscaler: keda, or leave it out",
    ),
    "E351": Wording(
        "KEDA has to ask Prometheus here, and nobody says where it is",
        "write autoscaling.keda.prometheus.serverAddress in RenderConfig, or scale on cpu",
    ),
    "W351": Wording(
        "{value} end a request before a replica has started, which may take {seconds}s",
        "write {seconds}s or more",
    ),
    "E352": Wording(
        "{present} does nothing without {lacking}",
        "write {lacking} too, or leave {present} out",
    ),
    "E353": Wording(
        "no query is known for the {kind} metric '{name}'{why}",
        "{hint}; or leave elasticConfig out, and write a ScaledObject of your own",
    ),
    "E354": Wording(
        "a model in several variants cannot scale to zero: what is held says nothing of which of them to wake",
        "write minReplicas: 1 or more, or give each flavor a Playground of its own",
    ),
    "E355": Wording(
        "the interceptor holds requests for '{model}' for {other} too, and cannot tell whose they are",
        "give one of them another public name, or minReplicas: 1 or more",
    ),
    "W355": Wording(
        "it listens on port {port} of its node, as the {kind} {other} does on the same nodes: one of the two waits",
        "give them different nodes, or say nothing about hostNetwork",
    ),
    "E358": Wording(
        "'{name}', in {file}:{line}, has the name of a StatefulSet that LeaderWorkerSet makes for workers of '{app}'",
        "give one of them another name",
    ),
    "E375": Wording(
        "prefill and decode need a picker that asks both, and gateway.mode is {mode}",
        "write spec.gateway.mode: pool, or leave spec.disaggregation out",
    ),
    "W375": Wording(
        "prefill shares the model among {prefill} accelerators and decode among {decode}: the engine hands KV cache "
        "over in this direction only of models with latent attention (MLA), or without attention",
        "{hint}",
    ),
    "E376": Wording(
        "the picker '{name}' knows no prefill and decode: the pods of '{app}' for prefill would never be asked",
        "pickers that do: {able}",
    ),
    "E377": Wording("'{backend}' {what}, which prefill and decode need", "{hint}; or leave spec.disaggregation out"),
    "E378": Wording(
        "{role} runs the image '{image}', and {other} '{other_image}', in {file}:{line}: both have to be alike",
        "a podTemplate of a role stands in place of the whole spec.podTemplate: give the roles none, or name the image "
        "in a BackendRuntime",
    ),
    "E379": Wording(
        "prefill shares the model among {prefill} accelerators and decode among {decode}, and the engine hands no KV "
        "cache over from one to the other",
        "{hint}",
    ),
    "E380": Wording(
        "{role} runs {place}, and {other} {other_place}, in {file}:{line}: they could not read each other's KV cache",
        "give both roles flavors with accelerators of one vendor, or without any",
    ),
    "E381": Wording(
        "{given} is what {role} has, and {other} {said}: they could not read each other's KV cache",
        "write it in spec.backendRuntimeConfig.args, for both",
    ),
    "E383": Wording("{given} says what disaggregation says, in {file}:{line}", "leave it out: each role gets its own"),
    "E384": Wording("{key} does not go together with spec.disaggregation", "{hint}"),
    "E385": Wording(
        "pods of prefill answer {prefill} and those of decode {decode}: the one pool of both has the same ports in all "
        "of its pods, and selects whole groups or their leaders",
        "give both roles the same kind of sizes, with as many data parallel ranks a pod",
    ),
    "E386": Wording(
        "'{name}' is the name of the picker's sidecar in pods of the role decode", "give your container another name"
    ),
    "E387": Wording(
        "a DisaggregatedSet of LeaderWorkerSet {version} has a fixed number of replicas, and {asks}",
        "write targets.leaderWorkerSet: '0.10' or above where every cluster has it, or {instead}",
    ),
    "E388": Wording(
        "pipeline {prefill} in prefill and {decode} in decode: the engine hands no KV cache over between such sizes",
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
        "the controller of a DisaggregatedSet writes a value of its own over the label {label}: {value}",
        "take another key, and in what selects by it",
    ),
    "E391": Wording("a DisaggregatedSet refuses {what}", "{hint}"),
    "W391": Wording(
        "nobody reads spec.replicas beside scaling.mode External: who scales '{scaler}' says how many there are",
        "leave it out",
    ),
    "E392": Wording("an autoscaler cannot scale {what}", "{hint}"),
    "E393": Wording(
        "the {kind} '{name}' selects no pod of the DisaggregatedSet '{workload}' by {label}: {why}",
        "leave this label out, or mend its value",
    ),
}
