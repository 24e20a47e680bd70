"""Wordings about objects as a cluster takes them: what it refuses, what they refer to, two that do the same."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

CLUSTER: Final[dict[str, Wording]] = {
    "W260": Wording(
        "{owner} renders this {kind} too",
        "if both are applied, each overwrites the other: {hint}; a file that is never applied belongs under ignore of "
        "RenderConfig",
    ),
    "W261": Wording(
        "{owner} renders the {maker} '{name}', whose controller creates the {kind} of this name",
        "rename this one",
    ),
    "W500": Wording(
        "with {modes} only one {one} can mount the volume, but up to {pods} pods of {owner} would",
        "write ReadWriteMany or ReadOnlyMany, with a storage class that has it; or one replica, without maxSurge",
    ),
    "E545": Wording(
        "the API server takes no activeDeadlineSeconds in pods that a {kind} makes, so it makes none",
        "leave it out: a deadline belongs to a Job",
    ),
    "W549": Wording(
        "no node has the label '{key}', so DoNotSchedule keeps all pods from running",
        "write topologyKey: {near}",
        replaces=("", "near"),
    ),
    "W503": Wording(
        "the constraint over {key} counts pods with {labels}, which no pod of this {kind} has: it spreads nothing",
        "select labels of its own pods",
    ),
    "W504": Wording(
        "the {kind} selects no pod: it needs {wanted}, and the pod of {workload}, which matches otherwise, {has}",
        "write the label that the pods have",
    ),
    "W559": Wording(
        "the {kind} selects no pod: those of {workload} have no label {label}",
        "write {own} in its place",
    ),
    "W505": Wording(
        "there is no {kind} '{name}' in the manifests, but one is called '{near}'",
        "did you mean '{near}'?",
        replaces=("name", "near"),
    ),
    "W506": Wording("the {kind} '{name}' has no key '{key}'", "it has {known}"),
    "W507": Wording(
        "no port of the pods of {workload} is called '{port}', so the Service leads nowhere",
        "name one of their ports ({known}), or its number",
    ),
    "W508": Wording(
        "a picker watches {resources}, and this lets it only read them: it would never see a change",
        "add watch",
    ),
    "W262": Wording("there is no {kind} in the cluster, so nothing is scaled", "{hint}"),
    "W263": Wording(
        "{owner} already renders an autoscaler for the {kind} '{name}', and the two conflict",
        "delete this one, and set what it scales on in spec.elasticConfig there",
    ),
    "W264": Wording(
        "{owner} renders the {kind} '{name}' with a number of replicas, which each sync restores",
        "{hint}",
    ),
    "W265": Wording(
        "there is no {kind} '{name}'{where}: no input renders it, and no file of the tree contains it",
        "{hint}",
    ),
    "W266": Wording(
        "{owner} renders a {kind} for the same {target} '{name}', and only the older of the two takes effect",
        "{hint}",
    ),
    "W267": Wording(
        "{owner} has the public name '{model}' on the Gateway {gateway} too, so one of the two routes gets no request",
        "{hint}",
    ),
    "E501": Wording("this is not a Kubernetes object: apiVersion and kind are needed"),
    "E502": Wording("Kubernetes {removed} removed {kind} of {version}", "{hint}"),
    "E511": Wording("{what}", about="more pods than LeaderWorkerSet can count: {what}"),
    "E512": Wording("{field} '{value}' is neither a number nor a percentage up to 100%"),
    "E513": Wording(
        "maxUnavailable and maxSurge both come to 0 of {replicas}", "allow one group to be down, or one more to run"
    ),
    "E514": Wording("{what}", about="the size and subGroupSize do not go together: {what}"),
    "E515": Wording(
        "LWS rewrites restartPolicy Default to None, so it would drift", "write None", replaces=("Default", "None")
    ),
    "E516": Wording("this annotation needs a subGroupPolicy", "write one, or leave the annotation out"),
    "E520": Wording("the {what} '{name}' already exists", "rename one of them"),
    "E521": Wording("no volume is called '{name}'", "name one of the pod's volumes"),
    "E522": Wording("no port of this container is called '{name}'", "name one of its ports"),
    "E523": Wording(
        "the request {request} of {name} is above its limit {limit}",
        "{hint}",
    ),
    "E524": Wording("'{name}' has a value and a valueFrom", "keep one of them"),
    "W524": Wording("{value} of {name} is less than {least}", "{hint}"),
    "E525": Wording("the limit of {name} must equal its request {request}", "set both to the same value"),
    "E526": Wording("{value} of {name}: only whole numbers can be requested", "request a whole number"),
    "E527": Wording(
        "{hook} sleeps {seconds} seconds, longer than the pod's grace period of {grace}",
        "raise terminationGracePeriodSeconds above {seconds} by as long as the longest answer takes, or sleep less",
    ),
    "E528": Wording("the fields of a pod have apiVersion v1, not '{version}'", "leave it out"),
    "E529": Wording("no program is named '{program}': nothing takes it apart at its blanks", "{hint}"),
    "E530": Wording("{what}", about="the bounds or the triggers of the autoscaler are refused: {what}"),
    "E531": Wording("{what}", about="the target of the metric is not valid: {what}"),
    "W532": Wording("{what} is more than {where} has for pods, {has}: its pod would wait for ever", "{hint}"),
    "W547": Wording(
        "no node has {one} and {other}: the pod would wait for ever",
        "leave one of the two out",
    ),
    "W548": Wording(
        "{label} selects nodes with accelerators of {vendor}, and {resource} is of {other}: the pod would wait for "
        "ever",
        "select nodes with accelerators of {other}, or request those of {vendor}",
    ),
    "E929": Wording(
        "ResourceQuota '{name}' lets the {pods} of namespace '{namespace}' have {hard} of {key} in all, and {who} "
        "{need}",
        "write {room} or more",
    ),
    "W930": Wording(
        "ResourceQuota '{name}' lets the {pods} of namespace '{namespace}' have {hard} of {key} in all, and {who} "
        "{need}",
        "write {room} or more, or {other}",
    ),
    "W931": Wording(
        "ResourceQuota '{name}' of namespace '{namespace}' refuses pods of which a container does not say {what}, as "
        "'{container}' does not",
        "write {what} into its resources",
    ),
    "E576": Wording(
        "the LimitRange '{name}' {what}, so it is refused",
        "{hint}",
        about="a LimitRange refuses pods or claims",
    ),
    "E577": Wording(
        "the Service '{name}' is the one that LWS makes for the pods of its LeaderWorkerSet, and it has no port",
        "{hint}",
    ),
    "E578": Wording(
        "the issuer '{name}' proves hosts by HTTP alone, and {who} asks it for the wildcard '{host}', which takes DNS",
        "add a solver with dns01",
    ),
    "W586": Wording("the {kind} '{name}' finds nothing by this: {what}", "{hint}"),
    "W576": Wording(
        "the PodDisruptionBudgets '{name}' and '{other}' both select the pods of {workload}: evictions of such pods "
        "fail, so nodes that run one cannot be drained",
        "leave one of them out",
    ),
    "W577": Wording(
        "no NetworkPolicy lets the pods of {workload} {what}",
        "{hint}, or allow that by a policy beside it",
    ),
    "W578": Wording(
        "{who} asks the Secret '{name}' for {keys}, which this does not give it",
        "write {keys} in place of {known}, or beside it",
    ),
    "W579": Wording(
        "{who} pulls images with the Secret '{name}', which has type {type}, so the kubelet does not read it",
        "write type: kubernetes.io/dockerconfigjson{where}, with the key .dockerconfigjson",
    ),
    "W557": Wording("no node has {key}: {value}", "write {names}"),
    "W536": Wording(
        "the {kind} '{name}' selects workers of '{workload}' too, and only its leaders listen on {port}",
        'add leaderworkerset.sigs.k8s.io/worker-index: "0" to the selector',
    ),
    "W537": Wording(
        "the {kind} '{name}' leads only to the leaders of '{workload}', and {other} to all of its pods: one of the two "
        "is wrong",
        "if every pod answers requests, leave leaderworkerset.sigs.k8s.io/worker-index out of both selectors",
    ),
    "W538": Wording(
        "the InferencePool '{name}' has {count} of the ports {ports} on which ranks of '{workload}' answer: the others "
        "get no request",
        "list all of them in targetPorts",
    ),
    "W539": Wording(
        "the PodDisruptionBudget '{name}' counts only the {half} of '{workload}', but the eviction of any pod ends the "
        "whole group",
        "select all pods: {selector}",
    ),
    "W541": Wording("{of} does not report a metric '{name}'", "{hint}"),
    "W558": Wording(
        "'{name}' {what}: {why}", "{hint}", about="an autoscaler aims at what a metric never has, or always"
    ),
    "W544": Wording("'{name}' is a metric of {engine}, and the engine here is {of}", "{hint}"),
    "E838": Wording(
        "the values of this {kind} have {size} bytes, and Kubernetes takes at most 1,048,576 of them",
        "keep less in it",
    ),
    "E540": Wording("{what}", about="the Service or selector is not valid: {what}"),
    "E542": Wording("the selector does not match the labels of its own pods"),
    "E543": Wording("{what}", about="the Role or RoleBinding is not valid: {what}"),
    "E550": Wording("'{name}' is already scaled by {other}", "keep one autoscaler for each workload"),
    "W509": Wording(
        "requests to {models} end after {seconds} s, streamed or not: no rule or policy sets another timeout",
        "write timeouts: {{request: 600s}} in the rule",
    ),
    "W510": Wording(
        "InferencePool '{name}' also selects pods of {workload}, and none of their containers listens on {port}",
        "select by a label that only the pods of engines have",
    ),
    "N517": Wording(
        "the chart of the {kind} '{name}' is not rendered, so only its values are checked ({count})",
        "{hint}",
    ),
    "W518": Wording(
        "the PodDisruptionBudget '{name}' lets no pod of {workload} be evicted, so nodes that run one cannot be "
        "drained: {why}",
        "write maxUnavailable: 1{replaced}",
    ),
    "W519": Wording(
        "the VerticalPodAutoscaler '{name}' changes the requests of {resource} from which {scaler} computes its number "
        "of replicas, so the two work against each other",
        "leave {resource} out of controlledResources, or scale on another metric",
    ),
    "E551": Wording("the {kind} '{name}' owns the number of replicas", "leave spec.replicas out"),
    "E552": Wording("LWS itself creates a Service called '{name}'", "{hint}"),
    "E553": Wording(
        "the leader's containers do not listen on {port}, only on {ports}",
        "set targetPort to one of these",
    ),
    "E554": Wording(
        "a headless Service does not translate ports: {port} leads to {port}, not to {target}",
        "make the two ports one",
    ),
    "E555": Wording("no container of the {kind} '{name}' is called '{container}'", "{hint}"),
    "W555": Wording(
        "the container '{container}' has no request for {name}, so an autoscaler cannot compute its utilization",
        "set a request for {name}, or scale on another metric",
    ),
    "W556": Wording(
        "the resource metrics of Kubernetes have no {name}, only cpu and memory",
        "scale on a metric of type Pods that a metrics adapter serves",
    ),
    "E560": Wording("kubeconform: {what}"),
    "E561": Wording("kubeconform did not run: {what}", "name the program: --kubeconform=PATH"),
    "E562": Wording("this program is not on PATH", "install it"),
    "E563": Wording("kustomize: {what}"),
    "E564": Wording(
        "'{name}' is {what}, and nothing is fetched",
        "{hint}",
        about="'{name}' is not a file or folder of this tree, and nothing is fetched",
    ),
    "E565": Wording("helm: {what}"),
    "N565": Wording("the chart of the HelmRelease '{name}' is rendered without {what}"),
    "W565": Wording(
        "no chart '{chart}' in {folder}, which the HelmRelease '{name}' needs",
        "put it there, as helm pull --untar does",
    ),
    "W566": Wording("the chart {path} has version {version}, not {wanted}", "put that version there"),
    "E567": Wording(
        "by this, kustomize may change which files the plugins in this folder name, and nothing is fetched",
        "name the files of the plugins where the folder is named, or make the change in them",
    ),
    "W568": Wording(
        "{kind} '{name}' is also in {file}:{line}: where both are applied, the last one stays",
        "leave one of them out, or put each into a folder of its own",
    ),
    "E570": Wording("{message}", about="a rule of the CustomResourceDefinition is broken: {message}"),
    "E571": Wording("another item of this list has {what} too", "keep one of them"),
    "E572": Wording("the group of {kind} is missing", "write its group and version, as in apps/v1"),
    "W535": Wording(
        "no file of passThrough has a Namespace '{name}', though there are those of {listed}: nothing creates it",
        "{hint}",
    ),
    "N535": Wording(
        "{file} does not install {component}; in a cluster that has none {effect}",
        "write {component}: {{enabled: true}} into {file}; where the cluster has it already, write "
        "external: [{declare}] in RenderConfig",
    ),
    "N533": Wording(
        "models get the token of a hub, or the keys of a bucket, from Secrets that are not in the manifests, so these "
        "were not checked: {secrets}",
        "declare those that exist in the cluster as external: {declare}",
    ),
    "N534": Wording(
        "what is to be filled in here was not checked, and no Flux Kustomization of the tree fills it in ({count})",
        "if nothing else does, a cluster gets the text as it is: pipe the manifests through flux envsubst",
    ),
    "W546": Wording(
        "the mounts of '{volume}' name the {what} '{name}', which the values do not have: the chart leaves them out",
        "{hint}",
    ),
    "E580": Wording("there is no {kind} '{name}'{where}", "{hint}"),
    "N580": Wording("the {kind} '{name}'{where} is not in the manifests, so it was not checked"),
    "W580": Wording(
        "failureMode FailOpen does nothing: without its picker the pool answers 500",
        "write FailClose",
        replaces=("FailOpen", "FailClose"),
    ),
    "E581": Wording("the Gateway '{gateway}' has no listener {what}", "its listeners: {known}"),
    "N581": Wording(
        "the Service '{name}' selects no pod in the manifests, so whether one listens there was not checked"
    ),
    "W581": Wording(
        "without mergeType this overrides what the {kind} of the Gateway '{gateway}' sets: {lost}",
        "repeat it here, or set mergeType: StrategicMerge",
    ),
    "E582": Wording("no listener of the Gateway '{gateway}' accepts routes of namespace '{namespace}'", "{hint}"),
    "N582": Wording(
        "the InferencePool '{name}' selects no pod in the manifests, so whether one listens there was not checked"
    ),
    "W582": Wording(
        "the Gateway '{gateway}' has {routes:,} routes; above {most} Envoy Gateway's memory grows with the square of "
        "their number",
        "spread the models over a second Gateway, or pack them: gateway.routeLayout: packed",
    ),
    "E583": Wording("no listener of the Gateway '{gateway}' serves the host '{hostname}'", "they serve {served}"),
    "N583": Wording("the Gateway '{gateway}' is not in the manifests, so whether it requires the same was not checked"),
    "W583": Wording(
        "the Gateway '{gateway}' has {rules:,} rules for models, and an unknown number of API keys: each rule contains "
        "every key twice, and one message holds at most 4 MiB",
        "authenticate many tenants by JWT, or spread the models over a second Gateway",
    ),
    "E584": Wording(
        "this route names {own}, and '{other}' on the same listener of '{gateway}' names {its}: for {hosts}, models of "
        "the other routes answer 404",
        "{hint}",
    ),
    "N584": Wording(
        "the Namespace '{namespace}' is not in the manifests, so whether it has the label that '{gateway}' selects was "
        "not checked",
    ),
    "W584": Wording(
        "at the listener '{listener}' this overrides what the {kind} of the whole Gateway '{gateway}' sets: {lost}",
        "repeat it here",
    ),
    "E585": Wording(
        "the route '{other}' on the Gateway '{gateway}' already has the model '{model}', {so}",
        "give it another name, host or Gateway, or make it one rule with several backendRefs",
    ),
    "N585": Wording("the Gateway is not in the manifests, so whether the metadata key '{key}' is set was not checked"),
    "W585": Wording(
        "streamed requests do not get this name: the {what} counts tokens on the Gateway '{gateway}', so the AI "
        "gateway sends its own copy of every stream there, under the public name, after the picker has chosen",
        "move what counts or the pool to another Gateway",
    ),
    "E586": Wording("all backends have weight 0, so every request is answered with 500", "give one of them a weight"),
    "N586": Wording(
        "no object of namespace '{namespace}' is in the manifests, so whether a ReferenceGrant there allows references "
        "from kind {from_kind} of '{from_space}' to kind {kind} was not checked",
    ),
    "E587": Wording("a rule without backendRefs answers every request with 500", "name a backend, or drop the rule"),
    "N587": Wording(
        "whether the host '{host}' leads to a Service was not checked: known host names end in .<namespace>.svc or "
        ".<namespace>.svc.{domain}",
    ),
    "E588": Wording(
        "without matches on headers the rule is lost among the catch-alls, and answers 404",
        "match the header x-ai-eg-model",
    ),
    "N588": Wording("whether clients can set the header '{header}' at the Gateway {name} was not checked"),
    "E589": Wording(
        "the name has {length} characters; above {most} the name that the AI gateway derives from it is too long",
        "shorten it",
    ),
    "N589": Wording("{key} has no effect here: the Gateway {name} is created elsewhere, since gateway.create is false"),
    "E590": Wording(
        "the AI gateway creates an HTTPRoute '{name}' for the AIGatewayRoute of that name, and takes this one over",
        "rename one of them",
    ),
    "N590": Wording(
        "the Gateway '{gateway}' is not in the manifests, so whether failed requests are retried was not checked"
    ),
    "W590": Wording(
        "a request that fails at one priority is not sent to the next: nothing retries it",
        "write a BackendTrafficPolicy with retry for the HTTPRoute '{name}'",
    ),
    "E591": Wording("the Service '{name}' has no port {port}, only {ports}", "name one of its ports"),
    "W591": Wording(
        "the InferencePool '{name}' selects no pod in the manifests, so requests get 503",
        "correct the labels, or include the workload",
    ),
    "E592": Wording("no pod behind the {what} listens on port {port}, only on {ports}", "make them agree"),
    "E593": Wording("the Backend '{name}' has no endpoints", "name its host and port: endpoints: [{{fqdn: …}}]"),
    "E594": Wording(
        "{what}: Envoy Gateway then creates one cluster for each backend, where the AI gateway sets no model name, no "
        "key and no priority",
        "{hint}",
    ),
    "E595": Wording(
        "no ReferenceGrant in '{namespace}' allows references from kind {from_kind} of '{from_space}' to kind {kind}",
        "write one in '{namespace}', with from: {source} and to: {target}",
    ),
    "E596": Wording(
        "a pool is always looked up in the route's own namespace '{namespace}'",
        "move the route to the pool's namespace",
    ),
    "E597": Wording(
        "no route of Envoy Gateway can lead to the InferencePool '{name}' of this group",
        "write inference.networking.k8s.io/v1",
        replaces=("", "inference.networking.k8s.io/v1"),
    ),
    "E598": Wording(
        "no picker chooses a pod of the InferencePool '{name}', so every request is answered with 500",
        "name an endpoint picker: endpointPickerRef",
    ),
    "E599": Wording(
        "the {kind} '{other}' has the target {target} too: only one for each target takes effect",
        "merge the two into one",
    ),
    "E600": Wording(
        "the {kind} '{other}' has the target {target} too: with two the backend gets no key at all",
        "keep one of them",
    ),
    "E601": Wording(
        "the authentication of one model's route ({own}) differs from the Gateway's ({asked} at '{gateway}'): it runs "
        "before the model is known, so it also applies to other models",
        "set it at the Gateway, and repeat it here word for word beside authorization",
    ),
    "E602": Wording(
        "this takes the Gateway's authentication away from the route '{route}', and perhaps from every model",
        "repeat the Gateway's authentication here, word for word",
    ),
    "E603": Wording(
        "nothing sets the metadata key '{key}', so the limit never counts (set are: {known})",
        "write it into llmRequestCosts of the route",
    ),
    "E604": Wording("the Secret '{name}' has no key '{key}', only {there}", "add it"),
    "E605": Wording(
        "the AI gateway reads Secrets only in the policy's own namespace '{namespace}'",
        "move the Secret there",
    ),
    "E606": Wording(
        "the Gateway '{gateway}' has {rules:,} rules for models, {most:,} fit into one message of 4 MiB; beyond that "
        "Envoy silently keeps an old configuration",
        "spread the models over a second Gateway, or raise maxRecvMsgSize of the AI gateway's controller and "
        "extensionManager.maxMessageSize of Envoy Gateway, and set gateway.maxModels in llmaz.yaml",
    ),
    "E607": Wording(
        "each of the {rules:,} rules of the Gateway '{gateway}' contains its API keys twice: {size} MiB, and one "
        "message holds at most 4",
        "{most:,} models fit with these keys: spread them over a second Gateway, or authenticate by JWT",
    ),
    "E608": Wording(
        "the selector matches no {kind} in the manifests",
        "write labels that one has, or name it in targetRefs",
    ),
    "E609": Wording(
        "at the listener '{listener}' this overrides the authentication of the Gateway '{gateway}' ({asked}), so "
        "anybody may call",
        "repeat the Gateway's authentication here, or write this into the Gateway's own SecurityPolicy",
    ),
    "E610": Wording(
        "requests to the workload '{workload}' name the model '{sent}', but its engine serves '{name}' and answers 404",
        "{hint}",
    ),
    "E611": Wording("Envoy Gateway rejects the {what}, because {why}, so {effect}", "{hint}"),
    "E612": Wording(
        "without parentRefs the route is on no Gateway, so it gets no requests",
        "write parentRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: …}}]",
    ),
    "E613": Wording(
        "without targetRefs no backend gets this key",
        "write targetRefs: [{{group: aigateway.envoyproxy.io, kind: AIServiceBackend, name: …}}]",
    ),
    "E614": Wording(
        "the AI gateway cannot compute this cost ({why}), and then accepts no more changes to any route on the Gateway",
        "write CEL that returns a whole number from counts such as input_tokens, which are unsigned: input_tokens * 2u",
    ),
    "W615": Wording("the chart has no value '{key}' here: {effect}", "{hint}"),
    "E617": Wording(
        "the Gateway {name} has {count:,} models, and with these API keys at most {most:,} fit into the 4 MiB of one "
        "message",
        "use JWT for many tenants, or give namespaces their own Gateways (gateway.perNamespace); or raise both message "
        "limits, and set gateway.maxModels",
    ),
}
