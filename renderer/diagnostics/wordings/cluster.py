"""Wordings about objects as a cluster takes them: what it refuses, what they refer to, two that do the same."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

CLUSTER: Final[dict[str, Wording]] = {
    "W260": Wording(
        "{owner} renders this {kind} too",
        "where both are applied, the one undoes the other: {hint}; a file that is applied nowhere belongs under ignore "
        "of RenderConfig",
    ),
    "W261": Wording(
        "{owner} renders the {maker} '{name}', whose controller makes the {kind} of this name", "rename this one"
    ),
    "W500": Wording(
        "{modes} lets one {one} mount the volume, and up to {pods} pods of {owner} would",
        "write ReadWriteMany or ReadOnlyMany, with a storage class that has it; or one replica, without maxSurge",
    ),
    "W503": Wording(
        "the constraint over {key} counts pods with {labels}, which none of this {kind} has: it spreads nothing",
        "select labels of its own pods",
    ),
    "W504": Wording(
        "the {kind} selects no pod: it wants {wanted}, and the pod of {workload}, which has all the rest, {has}",
        "write the label that the pods have",
    ),
    "W505": Wording("there is no {kind} '{name}' in the set, and one is called '{near}'", "did you mean '{near}'?"),
    "W506": Wording("the {kind} '{name}' has no key '{key}'", "it has {known}"),
    "W507": Wording(
        "no port of the pods of {workload} is called '{port}', so the Service leads nowhere",
        "name one of their ports ({known}), or its number",
    ),
    "W508": Wording(
        "a picker watches {resources}, and this lets it read them alone: it would never see a change", "add watch"
    ),
    "W262": Wording("there is no {kind} in the cluster, so nothing is scaled", "{hint}"),
    "W263": Wording(
        "{owner} renders an autoscaler for the {kind} '{name}' already, and two of them fight",
        "delete this one, and say what it scales on in spec.elasticConfig there",
    ),
    "W264": Wording(
        "{owner} renders the {kind} '{name}' with a number of replicas, which each sync sets back",
        "{hint}",
    ),
    "W265": Wording(
        "there is no {kind} '{name}'{where}: no input renders it, and no file of the tree holds it",
        "{hint}",
    ),
    "W266": Wording(
        "{owner} renders a {kind} for the same {target} '{name}', and only the older one of the two acts",
        "{hint}",
    ),
    "W267": Wording(
        "{owner} has the public name '{model}' on the Gateway {gateway} too, so one of the two routes gets no request",
        "{hint}",
    ),
    "E501": Wording("no Kubernetes object: apiVersion and kind are needed"),
    "E502": Wording("Kubernetes {removed} removed {kind} of {version}", "{hint}"),
    "E511": Wording("{what}", about="more pods than LeaderWorkerSet can count: {what}"),
    "E512": Wording("{field} '{value}' is neither a number nor a percentage up to 100%"),
    "E513": Wording(
        "maxUnavailable and maxSurge both come to 0 of {replicas}", "allow one group to be down, or one more to run"
    ),
    "E514": Wording("{what}", about="the size and subGroupSize do not go together: {what}"),
    "E515": Wording("LWS rewrites restartPolicy Default to None, so it would drift", "write None"),
    "E516": Wording("this annotation needs a subGroupPolicy", "write one, or leave the annotation out"),
    "E520": Wording("the {what} '{name}' is already there", "rename one of them"),
    "E521": Wording("no volume is called '{name}'", "name one of the pod's volumes"),
    "E522": Wording("no port of this container is called '{name}'", "name one of its ports"),
    "E523": Wording(
        "the request {request} of {name} is above its limit {limit}", "raise the limit or lower the request"
    ),
    "E524": Wording("'{name}' has a value and a valueFrom", "keep one of them"),
    "W524": Wording("{value} of {name} is less than a mebibyte", "{hint}"),
    "E525": Wording("the limit of {name} must equal its request {request}", "write both alike"),
    "E526": Wording("{value} of {name}: only whole ones can be given", "ask for a whole number"),
    "E527": Wording(
        "{hook} sleeps {seconds} seconds, longer than the pod's grace period of {grace}",
        "raise terminationGracePeriodSeconds, or sleep less",
    ),
    "E528": Wording("the fields of a pod have apiVersion v1, not '{version}'", "leave it out"),
    "E530": Wording("{what}", about="the bounds or the triggers of the autoscaler are refused: {what}"),
    "E531": Wording("{what}", about="the target of the metric is not valid: {what}"),
    "W536": Wording(
        "the {kind} '{name}' selects workers of '{workload}' too, and only its leaders listen on {port}",
        'add leaderworkerset.sigs.k8s.io/worker-index: "0" to the selector',
    ),
    "W537": Wording(
        "the {kind} '{name}' leads to the leaders of '{workload}' alone, and {other} to all of its pods: one is wrong",
        "where every pod answers requests, leave leaderworkerset.sigs.k8s.io/worker-index out of both selectors",
    ),
    "W538": Wording(
        "the InferencePool '{name}' has {count} of the ports {ports} on which ranks of '{workload}' answer: the others "
        "get no request",
        "list all of them in targetPorts",
    ),
    "W539": Wording(
        "the PodDisruptionBudget '{name}' counts the {half} of '{workload}' alone, and an eviction of any pod ends the "
        "whole group",
        "select all pods: {selector}",
    ),
    "E540": Wording("{what}", about="the Service or selector is not valid: {what}"),
    "E542": Wording("the selector does not match the labels of its own pods"),
    "E543": Wording("{what}", about="the Role or RoleBinding is not valid: {what}"),
    "E550": Wording("'{name}' is already scaled by {other}", "keep one autoscaler for each workload"),
    "W509": Wording(
        "requests to {models} end after {seconds} s, whole answers and streams alike: no rule or policy says another "
        "time",
        "write timeouts: {{request: 600s}} in the rule",
    ),
    "W510": Wording(
        "InferencePool '{name}' selects pods of {workload} too, and no container of them listens on {port}",
        "select by a label that only the pods of engines have",
    ),
    "N517": Wording(
        "the chart of the {kind} '{name}' is not rendered: {count} in its values, and nothing else, is judged",
        "render it: --charts DIR for a HelmRelease whose chart lies in a folder, else check what helm template prints",
    ),
    "W518": Wording(
        "the PodDisruptionBudget '{name}' lets no pod of {workload} be evicted, so no node with one can be drained: "
        "{why}",
        "write maxUnavailable: 1",
    ),
    "W519": Wording(
        "the VerticalPodAutoscaler '{name}' changes the requests of {resource} by which {scaler} works out how many "
        "replicas it takes, so each undoes what the other does",
        "leave {resource} out of controlledResources, or scale on another metric",
    ),
    "E551": Wording("the {kind} '{name}' owns the number of replicas", "leave spec.replicas out"),
    "E552": Wording("LWS makes a Service called '{name}' of its own", "call this one '{name}-lb'"),
    "E553": Wording("the leader's containers do not listen on {port}, only on {ports}", "set targetPort to one"),
    "E554": Wording(
        "a headless Service translates no ports: {port} leads to {port}, not to {target}", "make the two ports one"
    ),
    "E555": Wording("no container of the {kind} '{name}' is called '{container}'", "{hint}"),
    "W555": Wording(
        "the container '{container}' asks for no {name}, so an autoscaler cannot say how much of it is used",
        "give it a request of {name}, or scale on another metric",
    ),
    "W556": Wording(
        "the use of {name} is in no resource metrics of Kubernetes, only that of cpu and memory",
        "scale on a metric of type Pods that somebody serves",
    ),
    "E560": Wording("kubeconform: {what}"),
    "E561": Wording("kubeconform did not run: {what}", "name the program: --kubeconform=PATH"),
    "E562": Wording("this program is not on PATH", "install it"),
    "E563": Wording("kustomize: {what}"),
    "E564": Wording(
        "'{name}' is not a file or folder of this tree, and nothing is fetched",
        "copy it into the tree, and name it by its path",
    ),
    "E565": Wording("helm: {what}"),
    "N565": Wording("the chart of the HelmRelease '{name}' is rendered without {what}"),
    "W565": Wording(
        "no chart '{chart}' in {folder}, which the HelmRelease '{name}' needs",
        "put it there, as helm pull --untar does",
    ),
    "W566": Wording("the chart {path} has version {version}, not {wanted}", "put that version there"),
    "E570": Wording("{message}", about="a rule of the CustomResourceDefinition is broken: {message}"),
    "E571": Wording("another item of this list has {what} too", "keep one of them"),
    "E572": Wording("the group of {kind} is missing", "write its group and version, as in apps/v1"),
    "E580": Wording("there is no {kind} '{name}'{where}", "{hint}"),
    "N580": Wording("the {kind} '{name}' of namespace '{namespace}' is not in the set: not checked"),
    "W580": Wording("failureMode FailOpen does nothing: without its picker the pool answers 500", "write FailClose"),
    "E581": Wording("the Gateway '{gateway}' has no listener {what}", "its listeners: {known}"),
    "N581": Wording("the Service '{name}' selects no pod of the set: whether one listens there was not checked"),
    "W581": Wording(
        "without mergeType this hides what the {kind} of the Gateway '{gateway}' says: {lost}",
        "repeat it here, or set mergeType: StrategicMerge",
    ),
    "E582": Wording("no listener of the Gateway '{gateway}' takes routes of namespace '{namespace}'", "{hint}"),
    "N582": Wording("the InferencePool '{name}' selects no pod of the set: whether one listens there was not checked"),
    "W582": Wording(
        "the Gateway '{gateway}' has {routes:,} routes; above {most} Envoy Gateway's memory grows with their square",
        "spread the models over a second Gateway, or pack them: gateway.routeLayout: packed",
    ),
    "E583": Wording("no listener of the Gateway '{gateway}' serves the host '{hostname}'", "they serve {served}"),
    "N583": Wording("the Gateway '{gateway}' is not in the set: whether it asks for the same was not checked"),
    "W583": Wording(
        "the Gateway '{gateway}' has {rules:,} rules for models, and API keys that nobody here can count: each key "
        "stands twice in every rule, and one message has 4 MiB",
        "authenticate many tenants by JWT, or spread the models over a second Gateway",
    ),
    "E584": Wording(
        "this route names {own}, and '{other}' on the same listener of '{gateway}' names {its}: for {hosts}, models of "
        "the others answer 404",
        "{hint}",
    ),
    "N584": Wording(
        "the Namespace '{namespace}' is not in the set: whether it has the label that '{gateway}' wants was not checked"
    ),
    "W584": Wording(
        "at the listener '{listener}' this hides what the {kind} of the whole Gateway '{gateway}' says: {lost}",
        "repeat it here",
    ),
    "E585": Wording(
        "the route '{other}' on the Gateway '{gateway}' already has the model '{model}', {so}",
        "give it another name, host or Gateway, or make it one rule with several backendRefs",
    ),
    "N585": Wording("whether anybody sets the metadata key '{key}' was not checked: the Gateway is not in the set"),
    "W585": Wording(
        "streamed requests do not get this name: since the {what} counts tokens on the Gateway '{gateway}', the AI "
        "gateway sends its own copy of every stream there, under the public name, after the picker has chosen",
        "give what counts or the pool a Gateway of its own",
    ),
    "E586": Wording("all backends have weight 0, so every request is answered with 500", "give one of them a weight"),
    "N586": Wording(
        "nothing of '{namespace}' is in the set: whether a ReferenceGrant there allows references from kind "
        "{from_kind} of '{from_space}' to kind {kind} was not checked"
    ),
    "E587": Wording("a rule without backendRefs answers every request with 500", "name a backend, or drop the rule"),
    "N587": Wording(
        "whether the host '{host}' leads to a Service was not checked: those that are known end in .<namespace>.svc or "
        ".<namespace>.svc.{domain}"
    ),
    "E588": Wording(
        "without matches on headers the rule is lost among the catch-alls, and answers 404",
        "match the header x-ai-eg-model",
    ),
    "N588": Wording("whether clients can set the header '{header}' at the Gateway {name} was not checked"),
    "E589": Wording(
        "the name has {length} characters; what the AI gateway makes of it is too long above {most}", "shorten it"
    ),
    "N589": Wording(
        "{key} says nothing here: the Gateway {name} is made elsewhere, since gateway.create is false",
    ),
    "E590": Wording(
        "the AI gateway makes an HTTPRoute '{name}' of the AIGatewayRoute of that name, and takes this one over",
        "rename one of them",
    ),
    "N590": Wording(
        "whether failed requests are sent again was not checked: the Gateway '{gateway}' is not in the set"
    ),
    "W590": Wording(
        "the next priority gets no request that fails in the one before: nothing sends it again",
        "write a BackendTrafficPolicy with retry for the HTTPRoute '{name}'",
    ),
    "E591": Wording("the Service '{name}' has no port {port}, only {ports}", "name one of its ports"),
    "W591": Wording(
        "the InferencePool '{name}' selects no pod of the set, and requests meet 503",
        "mend the labels, or keep the workload in the set",
    ),
    "E592": Wording("nobody behind the {what} listens on port {port}, only on {ports}", "make them agree"),
    "E593": Wording("the Backend '{name}' has no endpoints", "name its host and port: endpoints: [{{fqdn: …}}]"),
    "E594": Wording(
        "{what}: Envoy Gateway then makes one cluster of each backend, where the AI gateway sets no model name, no key "
        "and no priority",
        "{hint}",
    ),
    "E595": Wording(
        "no ReferenceGrant in '{namespace}' allows references from kind {from_kind} of '{from_space}' to kind {kind}",
        "write one in '{namespace}', with from: {source} and to: {target}",
    ),
    "E596": Wording(
        "a pool is looked for in the route's own namespace '{namespace}', whatever is written here",
        "move the route to the pool's namespace",
    ),
    "E597": Wording(
        "no route of Envoy Gateway can lead to the InferencePool '{name}' of this group",
        "write inference.networking.k8s.io/v1",
    ),
    "E598": Wording(
        "nobody picks a pod of the InferencePool '{name}', so every request is answered with 500",
        "name an endpoint picker: endpointPickerRef",
    ),
    "E599": Wording("the {kind} '{other}' has the target {target} too: one a target acts", "merge the two into one"),
    "E600": Wording(
        "the {kind} '{other}' has the target {target} too: with two the backend gets no key at all",
        "keep one of them",
    ),
    "E601": Wording(
        "authentication of one model's route ({own}) is not the Gateway's ({asked} at '{gateway}'): it runs before the "
        "model is known, so it acts on other models",
        "ask for it at the Gateway, and repeat it here word for word beside authorization",
    ),
    "E602": Wording(
        "this takes the Gateway's authentication away from the route '{route}', and perhaps from every model",
        "repeat the Gateway's authentication here, word for word",
    ),
    "E603": Wording(
        "nobody sets the metadata key '{key}', so the limit never counts (set are: {known})",
        "write it into llmRequestCosts of the route",
    ),
    "E604": Wording("the Secret '{name}' has no key '{key}', only {there}", "add it"),
    "E605": Wording(
        "the AI gateway reads Secrets of the policy's own namespace '{namespace}' only", "move the Secret there"
    ),
    "E606": Wording(
        "the Gateway '{gateway}' has {rules:,} rules for models, {most:,} fit into one message of 4 MiB; beyond that "
        "Envoy keeps an old configuration, and nobody says so",
        "spread the models over a second Gateway, or raise maxRecvMsgSize of the AI gateway's controller and "
        "extensionManager.maxMessageSize of Envoy Gateway, and say so: gateway.maxModels in llmaz.yaml",
    ),
    "E607": Wording(
        "the API keys of the Gateway '{gateway}' stand twice in each of its {rules:,} rules: {size} MiB, and one "
        "message has 4",
        "{most:,} models fit with these keys: spread them over a second Gateway, or authenticate by JWT",
    ),
    "E608": Wording("the selector takes no {kind} of the set", "write labels that one has, or name it in targetRefs"),
    "E609": Wording(
        "at the listener '{listener}' this hides what the Gateway '{gateway}' asks for ({asked}), so anybody may call",
        "repeat the Gateway's authentication here, or write this into the Gateway's own SecurityPolicy",
    ),
    "E610": Wording(
        "the workload '{workload}' is asked for the model '{sent}', but its engine is told '{name}' and answers 404",
        "{hint}",
    ),
    "E611": Wording("Envoy Gateway does not accept the {what}, since {why}: {effect}", "{hint}"),
    "E612": Wording(
        "without parentRefs the route is on no Gateway, and no request comes here",
        "write parentRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: …}}]",
    ),
    "E613": Wording(
        "without targetRefs no backend gets this key",
        "write targetRefs: [{{group: aigateway.envoyproxy.io, kind: AIServiceBackend, name: …}}]",
    ),
    "E614": Wording(
        "the AI gateway cannot work out this cost ({why}), and takes no more changes of any route on the Gateway",
        "write CEL that gives a whole number, of counts such as input_tokens, which are unsigned: input_tokens * 2u",
    ),
    "E617": Wording(
        "the Gateway {name} has {count:,} models, and with these API keys at most {most:,} fit into the 4 MiB of one "
        "message",
        "use JWT for many tenants, or give namespaces Gateways of their own (gateway.perNamespace); or raise both "
        "message limits, and say so with gateway.maxModels",
    ),
}
