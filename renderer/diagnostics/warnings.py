"""The wordings of warnings (legal, but likely wrong) and notes (what could not be judged), by code."""

from __future__ import annotations

from renderer.diagnostics.errors import HELM_IGNORE_HINT
from renderer.diagnostics.wording import Wording

WARNINGS: dict[str, Wording] = {
    # Nxxx: what cannot be judged from here; never an error
    "N350": Wording("the {owner} owns the number of replicas, so the {kind} '{name}' leaves it out"),
    "N448": Wording("{backend} {version} {what}"),
    "N449": Wording(
        "nobody knows which version of {backend} is in '{image}', so no argument is checked against it", "{hint}"
    ),
    "W310": Wording(
        "an engine that loads '{name}' by itself does not use this cache",
        "leave one of the two out: modelCache, or no loader",
    ),
    "W311": Wording(
        "the cache of '{name}' keeps the state of {revision} on the day that it is filled",
        "write a commit or a tag as revision; another one is loaded anew",
    ),
    "N580": Wording("the {kind} '{name}' of namespace '{namespace}' is not in the set: not checked"),
    "N581": Wording("the Service '{name}' selects no pod of the set: whether one listens there was not checked"),
    "N582": Wording("the InferencePool '{name}' selects no pod of the set: whether one listens there was not checked"),
    "N583": Wording("the Gateway '{gateway}' is not in the set: whether it asks for the same was not checked"),
    "N584": Wording(
        "the Namespace '{namespace}' is not in the set: whether it has the label that '{gateway}' wants was not checked"
    ),
    "N585": Wording("whether anybody sets the metadata key '{key}' was not checked: the Gateway is not in the set"),
    "N586": Wording(
        "nothing of '{namespace}' is in the set: whether a ReferenceGrant there allows references from kind "
        "{from_kind} of '{from_space}' to kind {kind} was not checked"
    ),
    "N588": Wording("whether clients can set the header '{header}' at the Gateway {name} was not checked"),
    "N590": Wording(
        "whether failed requests are sent again was not checked: the Gateway '{gateway}' is not in the set"
    ),
    "N589": Wording(
        "{key} says nothing here: the Gateway {name} is made elsewhere, since gateway.create is false",
    ),
    "N587": Wording(
        "whether the host '{host}' leads to a Service was not checked: those that are known end in .<namespace>.svc or "
        ".<namespace>.svc.{domain}"
    ),
    "E629": Wording(
        "the Gateway {name} has no hostnames, so cert-manager makes no certificate for it",
        "write gateway.hostnames, or tls.secretName",
    ),
    "E630": Wording("tls names neither secretName nor issuer", "write one of them, or leave tls out"),
    "E631": Wording(
        "the Gateway in this namespace is called '{name}' too, and both would have a SecurityPolicy of that name",
        "rename the app or the Gateway",
    ),
    "E632": Wording(
        "the header '{header}' cannot be used: it is removed from requests, or means something else",
        "name another, such as {other}",
    ),
    "E633": Wording("'{name}' is also the name of a packed route", "give it another name"),
    "E634": Wording(
        "the proxies of the Gateway {name} would have a Service '{proxy}': over 63 characters, a digit first, or taken",
        "give the Gateway another name",
    ),
    "E635": Wording("apiKeys and jwt together would ask for both in every request", "keep one of them"),
    "E636": Wording(
        "the model's policy repeats the Gateway's jwt, whose {what} lies in another namespace",
        "use remoteJWKS.uri or localJWKS.inline",
    ),
    "E637": Wording("'{name}' cannot stand behind a pool: {why}", "write spec.gateway.mode: backend"),
    "E638": Wording(
        "'{name}' cannot stand behind a pool, which has one workload: flavorPolicy variants makes several",
        "write spec.gateway.mode: backend",
    ),
    "E639": Wording(
        "'{app}' cannot stand behind a pool: {name} {what}",
        "leave {name} out, or write spec.gateway.mode: backend",
    ),
    "E640": Wording("no {kind} is named '{name}' in namespace '{namespace}'", "{hint}"),
    "E641": Wording("no picker is named '{name}'", "{hint}"),
    "E642": Wording(
        "the {kind} in {file}:{line} has a route of the name '{name}' too", "give one of them another name"
    ),
    "E643": Wording("'{name}' has gateway.mode: off, so nothing leads to it", "write spec.gateway.mode: backend in it"),
    "E644": Wording(
        "'{name}' is a pool, which takes all requests of its rule: no other backend or priority can stand beside it",
        "write spec.gateway.mode: backend in '{name}'",
    ),
    "E645": Wording("all weights of priority {priority} are 0, so nobody answers there", "give one of them a weight"),
    "E646": Wording("'{name}' stands in this priority already", "add the weights up in one of them"),
    "E647": Wording(
        "the pool '{name}' would be asked for '{model}', and its engine serves '{served}'",
        "write modelName: {served}, set spec.servedModelName: {model} in '{name}', or write an InferenceModel of this "
        "name",
    ),
    "E648": Wording(
        "'{host}' is none of the hosts of the Gateway {name}: {served}",
        "name it in RenderConfig gateway.hostnames too; a ModelRoute can only narrow them",
    ),
    "E649": Wording("{count} priorities need at least {least} retries, not {attempts}", "write attempts: {least}"),
    "E650": Wording(
        "clients can set the header '{header}' themselves, and so choose whose budget they use",
        "write per: tenant, or a header of claimToHeaders",
    ),
    "E651": Wording(
        "the Gateway {name} does not ask who calls, so it knows no tenants", "write RenderConfig gateway.auth"
    ),
    "E652": Wording("this budget is said already: same header, interval and count", "keep one of them"),
    "E653": Wording("{type} {what}", "{hint}"),
    "E654": Wording(
        "'{name}' is no name that a request can have", "write one in one line, not only blanks, as clients write it"
    ),
    "E655": Wording("this target has no weight, and others have one", "give weights to all targets, or to none"),
    "E656": Wording(
        "in v1alpha2 a weight is at least 1", "leave the target out; v1alpha1 keeps a name by weights of 0"
    ),
    "E657": Wording("the target '{name}' stands here twice", "add the weights up in one of them"),
    "E658": Wording("no Playground, Service or InferencePool is named '{name}' in namespace '{namespace}'", "{hint}"),
    "E659": Wording("poolRef.{key} '{value}' is nothing that a route can name", "write {allowed}, or leave it out"),
    "E660": Wording("nobody serves '{name}' {where}", "{hint}"),
    "E661": Wording(
        "the InferencePool '{name}' is of the group that is gone, and no route can name it",
        "make it apiVersion: inference.networking.k8s.io/v1, with spec.selector.matchLabels, targetPorts and "
        "endpointPickerRef; or let poolRef name the Playground, in pool mode",
    ),
    "E662": Wording(
        "'{name}' cannot be the name of a route", "use small letters, digits and '-', at most 63 characters"
    ),
    "E663": Wording(
        "the provider's objects would be called '{name}', {why}",
        "give the ModelRoute another name",
    ),
    "E664": Wording("only some may call '{name}' (its spec.gateway.allow), and this name opens it to others", "{hint}"),
    # Wxxx: legal, and likely wrong
    "W117": Wording(
        "more than {limit} warnings and notes are about this object: the rest is not told", "mend these first"
    ),
    "W201": Wording(
        "the flavors {names} have different limits or sizes: only '{first}' acts",
        "set flavorPolicy: first to say so, or claim flavors with equal limits and params",
    ),
    "W202": Wording("replicas has no effect: the autoscaler owns the number", "leave it out"),
    "W203": Wording(
        "without metrics an HPA scales on 80 % CPU, which says little about a model server", "name metrics"
    ),
    "W204": Wording(
        "nobody knows a user that this image can run as, so it keeps root",
        "say it under engine.security, or set hardening: default",
    ),
    "W207": Wording("two flavors are named '{name}': the first one acts", "rename one of them"),
    "W208": Wording(
        "no container of the leader is called model-runner, so nothing mounts the models there",
        "call the container that serves the model so",
    ),
    "W209": Wording(
        "nobody knows the resource '{name}', so it counts as no accelerator",
        "{hint}",
    ),
    "W210": Wording(
        "{field} has no effect under llmaz.io/skip-model-loader: the engine gets all of '{model}'",
        "drop the annotation, or the patterns",
    ),
    "W211": Wording(
        "the flavors {names} have different runtime classes: only '{first}' acts",
        "set flavorPolicy: first to say so, or give them one runtimeClassName",
    ),
    "W212": Wording(
        "the engine's options do not follow this number of {name}",
        "set it in the flavor's limits",
    ),
    "W213": Wording(
        "the flavor '{name}' has no limits and stands in no catalog, so its pods get no accelerator",
        "{hint}",
    ),
    "W214": Wording("nothing reads the param '{name}'", "did you mean '{meant}'?"),
    "W215": Wording(
        "the flavor says {limit} of {name}, so {value} has no effect", "set it in the flavor's limits, or leave it out"
    ),
    "W216": Wording("nothing reads the annotation '{name}'", "{hint}"),
    "W217": Wording("'{value}' counts as \"false\" for {name}", 'write "true" or "false"'),
    "W218": Wording(
        "'{loader}' is deleted, so nothing fills the volume '{volume}'",
        "give the volume another source, such as a persistentVolumeClaim that holds the weights",
    ),
    "W219": Wording(
        "nobody knows a user that the container '{name}' can run as, so it may run as root",
        "a namespace that enforces PodSecurity restricted refuses the pod; write securityContext: "
        "{{runAsNonRoot: true, capabilities: {{drop: [ALL]}}}}",
    ),
    "W206": Wording(
        "nobody knows a user that the loader '{name}' can run as, so it keeps root",
        "a namespace that enforces PodSecurity restricted refuses the pod; skip the loader, or use another image",
    ),
    "W205": Wording(
        "the template has a nodeAffinity of its own, so the flavors' is left out",
        "set flavorPolicy: first, or drop the template's",
    ),
    "W222": Wording(
        "nothing tells the engine of the draft model: its path is in no argument, variable or file",
        "take a config that does, such as speculative-decoding, or leave the draft out",
    ),
    "W223": Wording(
        "this file is stale: the answer is about what is rendered now", "run llmaz render, and look for the line again"
    ),
    "W224": Wording(
        "the repository '{name}' is one of GGUF files by its name, and none of them is named: all would be loaded",
        "name one as source.modelHub.filename, for an engine that reads GGUF",
    ),
    "W225": Wording(
        "the patterns leave out {name}, so the engine gets weights without what describes them",
        "take configuration and tokenizer too, as with '*.json'",
    ),
    "W226": Wording(
        "the model's {heads} attention heads cannot be shared out alike over {size} accelerators",
        "take a number that divides {heads}, such as {fits}, or mend facts.attention.heads",
    ),
    "W227": Wording(
        "{length} tokens are beyond the {longest} that the model was made for, and most engines then refuse to start",
        "lower it, or mend facts.contextLength",
    ),
    "W228": Wording(
        "{option} {seconds} behind a hook of {sleep} seconds: the pod is killed after {grace}, with requests running",
        "write terminationGracePeriodSeconds: {least} into the podTemplate, or fewer seconds",
    ),
    "W229": Wording(
        "'{name}' is mounted where the loader's weights are, so the engine sees one of the two",
        "give the volume '{volume}' this source, and the loader fills it; or mount '{name}' elsewhere",
    ),
    "W230": Wording("'{backend}': {notice}"),
    "W231": Wording(
        "nobody knows the options of {backend} {version}, so none is checked",
        "compare them with that version's documentation, or use a version that llmaz knows",
    ),
    "W232": Wording(
        "{of}: '{option}' and '{other}' say one option in two ways, and only one of them counts",
        "write all of it as keys behind one spelling, or all as one JSON",
    ),
    "W233": Wording(
        "'{backend}' cannot be told this name here: clients have to ask for '{name}'",
        "leave servedModelName out; a route would make the one of the other",
    ),
    "W234": Wording(
        "{option} takes the place of {path}, which tells the engine of the draft model",
        "say it in your own file too, or leave the draft model out",
    ),
    "W235": Wording("{option}: {why}"),
    "W236": Wording(
        "only {size} of {count} {name} work, the others idle",
        "{hint}",
    ),
    "W237": Wording("0 of {name}: the pod has no accelerator", "leave it out where the CPU is meant"),
    "W238": Wording("the tag '{tag}' names no version: what runs changes when somebody moves it", "{hint}"),
    "W239": Wording(
        "{name} puts the metrics behind a key, so Prometheus is turned away and the queue stays unknown",
        "scale on something else, or let the gateway ask for the key",
    ),
    "W249": Wording("{slots} requests at once share {tokens}{share}", "{hint}"),
    "W270": Wording(
        "the experimental channel of Gateway API refuses a route for the name '{name}', and requests for it meet 404",
        "write a name of printable ASCII, with single blanks between words at most; or say targets.gatewayAPIChannel: "
        "standard",
    ),
    "W271": Wording(
        "{value} of silence end every answer that is not streamed within that time, and every stream whose first token "
        "takes longer",
        "write 60s or more",
    ),
    "W272": Wording(
        "an API of {schema} answers {path} only: the AI gateway answers 500 for it on /v1/chat/completions",
        "let clients ask there; or write schema: OpenAI, where the provider has such an API too",
    ),
    "W250": Wording("the engine calls its model '{served}', and is asked for '{name}'{where}", "{hint}"),
    "W251": Wording(
        "nothing loads '{path}': the models of the claim{where} lie in {loaded}",
        "write {hint}, or claim the model that is meant",
    ),
    "W252": Wording(
        "{hook} asks port {asked}, where nobody is known to listen: {runner} listens on {port}{where}",
        "ask {port}, or add {asked} to the ports of the container that listens there",
    ),
    "W253": Wording(
        "the toleration of '{name}' is lost: the pod stays pending where only nodes with that taint have room for it",
        "leave out the item $patch: replace, or write that toleration too",
    ),
    "W254": Wording(
        "'{name}' has the port {port} of '{other}': the containers of a pod share its ports, so one cannot listen",
        "give one of them another port",
    ),
    "W260": Wording(
        "{owner} renders this {kind} too",
        "where both are applied, the one undoes the other: {hint}; a file that is applied nowhere belongs under ignore "
        "of RenderConfig",
    ),
    "W261": Wording(
        "{owner} renders the {maker} '{name}', whose controller makes the {kind} of this name", "rename this one"
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
    "W280": Wording(
        "{owner} renders the DisaggregatedSet '{name}', which no autoscaler can scale as a whole",
        "target a role, apiVersion: disaggregatedset.x-k8s.io/v1, kind: DisaggregatedSetRoleScaler, name: {scalers}",
    ),
    "W266": Wording(
        "{owner} renders a {kind} for the same {target} '{name}', and only the older one of the two acts",
        "{hint}",
    ),
    "W267": Wording(
        "{owner} has the public name '{model}' on the Gateway {gateway} too, so one of the two routes gets no request",
        "{hint}",
    ),
    "W672": Wording(
        "only some may call '{name}' ({rule}), and this {kind} leads others to its pods",
        "delete it and write a ModelRoute with spec.gateway.allow, or give it a SecurityPolicy whose authorization "
        "allows nobody else",
    ),
    "W673": Wording(
        "only some may call '{name}' ({rule}), and by this Service clients outside of the cluster reach its pods "
        "past the Gateway",
        "leave it a ClusterIP, without externalIPs, and let clients come through the Gateway",
    ),
    "W674": Wording(
        "only some may call '{name}' ({rule}), and by this grant routes of namespace '{namespace}' may lead to "
        "its {kind}",
        "name what they need under spec.to, or write the route in the namespace of the model",
    ),
    "W675": Wording(
        "this regular expression also matches {names}{more}, which other routes of the Gateway {gateway} serve, so "
        "one of the two gets no request",
        "match exact names, with type: Exact",
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
    "W257": Wording(
        "{param} has no effect: '{backend}' knows no {key} parallelism, so nothing would say it to the engine",
        "leave it out, or choose a backend that does: {able}",
    ),
    "W258": Wording(
        "hostNetwork on pods of several hosts, which then ask the node's DNS for their leader, and it does not know it",
        "write dnsPolicy: ClusterFirstWithHostNet beside it",
    ),
    "W335": Wording(
        "data {data} over {hosts} hosts is for a mixture of experts, and the facts of '{model}' do not say that it is",
        "say spec.facts.parameters and activeParameters in the OpenModel",
    ),
    "W336": Wording(
        "requests come to the port {port} alone, and the {ranks} data parallel ranks of a pod have one each ({ports})",
        "leave spec.gateway.port out, or see to it that the container there spreads them over these",
    ),
    "W337": Wording(
        "the Service leads to the port {port}, that of the first of {ranks} data parallel ranks of a pod: its clients "
        "never reach the others",
        "let clients come through the Gateway; or set gateway.mode to backend, where the ranks share a port",
    ),
    "W338": Wording(
        "the Service leads to leaders alone, since workers of {headless} do not answer; so the other pods of {serving} "
        "get nothing from it",
        "write a Service for each of them beside the Playground, or give flavors the same parallelism",
    ),
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
    "W334": Wording(
        "maxSurge {surge} in a queue: a rollout waits until the quota has room for more replicas than there are",
        "write rollout.maxSurge: 0",
    ),
    "W332": Wording(
        "the picker of the pool reads the engine's metrics at this port too",
        "see to it that the container passes {path} on to the engine",
    ),
    "W430": Wording("{of} has no option '{option}'", "{hint}"),
    "W431": Wording("{of} no longer has the option '{option}'", "{hint}"),
    "W432": Wording("{of}: '{option}' is not the whole name of an option", "{hint}"),
    "W433": Wording("{of}: the option '{option}' needs a value", "{hint}"),
    "W434": Wording("{of}: the option '{option}' is given twice, first as item {first}", "the last one counts"),
    "W435": Wording("{of}: the option '{option}' takes no value", "leave out what follows '='"),
    "W437": Wording("{of}: no option takes the value '{value}'", "{hint}"),
    "W445": Wording("{of} does not take '{given}', which the preset gives it", "{hint}"),
    "W439": Wording("{of}: '{option}' takes '{value}' for its value, which is an option itself", "{hint}"),
    "W220": Wording(
        "nothing reads a PodMonitor while the type is none, so none is made",
        "write type: prometheusAdapter, or leave podMonitor out",
    ),
    "W355": Wording(
        "it listens on port {port} of its node, as the {kind} {other} does on the same nodes: one of the two waits",
        "give them different nodes, or say nothing about hostNetwork",
    ),
    "W350": Wording(
        "nothing reads it while the autoscaler is an HPA",
        "write autoscaler: keda, or leave it out",
    ),
    "W351": Wording(
        "{value} end a request before a replica has started, which may take {seconds}s",
        "write {seconds}s or more",
    ),
    "W390": Wording(
        "the controller of a DisaggregatedSet writes a value of its own over the label {label}: {value}",
        "take another key, and in what selects by it",
    ),
    "W391": Wording(
        "nobody reads spec.replicas beside scaling.mode External: who scales '{scaler}' says how many there are",
        "leave it out",
    ),
    "W360": Wording(
        "nobody says the rank of the adapter '{name}', and {backend} refuses to start with one above {most}",
        "write spec.facts.adapter.rank: r of its adapter_config.json",
    ),
    "W221": Wording(
        "the flavors {names} have different limits or sizes: the pod asks for those of '{first}' on the nodes of each",
        "claim flavors with equal limits, or set flavorPolicy: first",
    ),
    "W370": Wording(
        "nothing keeps the files of '{backend}' below {size}: once there are more, the node ends the pod",
        "name a claim as pvc, or a size that is never reached",
    ),
    "W375": Wording(
        "prefill shares the model among {prefill} accelerators and decode among {decode}: the engine hands KV cache "
        "over in this direction only of models with latent attention (MLA), or without attention",
        "{hint}",
    ),
    "W240": Wording(
        "the Gateway {name} has {count} routes; above {most} its memory grows with their square",
        "set gateway.routeLayout: packed, or give namespaces Gateways of their own (gateway.perNamespace)",
    ),
    "W242": Wording(
        "only providers have the first priority, so all requests leave the cluster", "give an app of yours priority 0"
    ),
    "W243": Wording(
        "requests are sent again to the one replica of '{name}' that failed", "give it replicas, or another backend"
    ),
    "W244": Wording(
        "criticality acts in pool mode only, and this pool is a workload in backend mode",
        "write spec.gateway.mode: pool there, or leave criticality out",
    ),
    "W245": Wording(
        "'{name}' has timeouts of its own, which count for nothing since this route leads to it",
        "write spec.timeouts here",
    ),
    "W246": Wording("an API of {schema} takes {usual} as a rule, not {kind}", "write auth.type: {usual}"),
    "W247": Wording(
        "streamed requests for '{model}' do not reach this target: since the ModelRoute '{route}' in {file}:{line} "
        "counts tokens, the AI gateway sends its own copy of every stream on this Gateway, under the public name, "
        "after the picker has chosen",
        "give the budget or the pool a Gateway of its own, or split over Playgrounds in backend mode",
    ),
    "W248": Wording(
        "a pool's picker is asked once a request, so it is sent again to the pod of '{name}' that failed",
        "leave retries out, or write spec.gateway.mode: backend in it",
    ),
    "W241": Wording(
        "the Gateway {name} has {count} models beside API keys, which stand in every route of one message of 4 MiB",
        "use JWT for many tenants, or give namespaces Gateways of their own (gateway.perNamespace)",
    ),
    "W524": Wording("{value} of {name} is less than a mebibyte", "{hint}"),
    "W555": Wording(
        "the container '{container}' asks for no {name}, so an autoscaler cannot say how much of it is used",
        "give it a request of {name}, or scale on another metric",
    ),
    "W556": Wording(
        "the use of {name} is in no resource metrics of Kubernetes, only that of cpu and memory",
        "scale on a metric of type Pods that somebody serves",
    ),
    "W580": Wording("failureMode FailOpen does nothing: without its picker the pool answers 500", "write FailClose"),
    "W581": Wording(
        "without mergeType this hides what the {kind} of the Gateway '{gateway}' says: {lost}",
        "repeat it here, or set mergeType: StrategicMerge",
    ),
    "W582": Wording(
        "the Gateway '{gateway}' has {routes:,} routes; above {most} Envoy Gateway's memory grows with their square",
        "spread the models over a second Gateway, or pack them: gateway.routeLayout: packed",
    ),
    "W583": Wording(
        "the Gateway '{gateway}' has {rules:,} rules for models, and API keys that nobody here can count: each key "
        "stands twice in every rule, and one message has 4 MiB",
        "authenticate many tenants by JWT, or spread the models over a second Gateway",
    ),
    "W590": Wording(
        "the next priority gets no request that fails in the one before: nothing sends it again",
        "write a BackendTrafficPolicy with retry for the HTTPRoute '{name}'",
    ),
    "W591": Wording(
        "the InferencePool '{name}' selects no pod of the set, and requests meet 503",
        "mend the labels, or keep the workload in the set",
    ),
    "W584": Wording(
        "at the listener '{listener}' this hides what the {kind} of the whole Gateway '{gateway}' says: {lost}",
        "repeat it here",
    ),
    "W585": Wording(
        "streamed requests do not get this name: since the {what} counts tokens on the Gateway '{gateway}', the AI "
        "gateway sends its own copy of every stream there, under the public name, after the picker has chosen",
        "give what counts or the pool a Gateway of its own",
    ),
    "N800": Wording("there is no '{folder}' that this rule could be about", "leave it out, or mend the path"),
    "W700": Wording(
        "{what} needs the feature gate {gate}, which is off by default up to Kubernetes {newest}",
        "without it the API server drops or refuses this: leave it out, or turn the gate on",
    ),
    "W703": Wording(
        "{name} {value} works with {other} {needed} and newer, and the target is {said}",
        "set targets.{target} to {needed} or above where the clusters have it, or targets.{key} to an older version",
    ),
    "W750": Wording("there is no '{key}' to delete", "leave it out, or mend the name"),
    "W790": Wording("the flavor '{name}': {what}", "{hint}"),
    "W791": Wording(
        "{pods} do not tolerate the taint '{taint}', so the nodes of {flavors} do not get it",
        "add the toleration, in pods.tolerations or the flavor's, or leave the taint out",
    ),
    "W792": Wording(
        "its pods ask for nodes with {label}, which those of {names} do not have, so they stay pending",
        "add the label to the flavor's nodeSelector, or drop it from the pods",
    ),
    "W793": Wording("no workload runs on the flavor '{name}'", "{hint}"),
    "W794": Wording(
        "Karpenter does not ask InftyAI's scheduler: it makes the cheapest nodes that hold a pod, whatever the flavor",
        "set flavorPolicy: auto, so that pods say it themselves, or use the fork of Karpenter that knows OpenModels",
    ),
    "W840": Wording(
        "ValidatingAdmissionPolicy '{policy}' with binding '{binding}' warns of the {kind} '{name}': {message}",
        "the rule is at {rule}, the binding at {bound}",
    ),
    "W841": Wording(
        "ValidatingAdmissionPolicy '{policy}' with binding '{binding}' notes the {kind} '{name}' in the audit log: "
        "{message}",
        "the rule is at {rule}, the binding at {bound}",
    ),
    "W842": Wording(
        "no binding of the files of admission is for the policy '{policy}', so nothing is judged by it",
        "add the file of its ValidatingAdmissionPolicyBinding to admission",
    ),
    "N840": Wording(
        "the policy '{policy}' is not judged as far as it needs {reasons}",
        "the cluster judges it when the objects are applied",
    ),
    "W860": Wording("'{rule}' hides {file} from Helm", HELM_IGNORE_HINT),
}
