"""The wordings of errors, by code."""

from __future__ import annotations

from renderer.diagnostics.wording import Wording

FOREIGN_HINT = "delete it, keep it elsewhere, or name it under output.foreign of RenderConfig"
HELM_IGNORE_HINT = "delete the line, or name .helmignore under output.foreign of RenderConfig"

ERRORS: dict[str, Wording] = {
    # 1xx: reading YAML
    "E101": Wording("{what}", "{fix}"),
    "E102": Wording("the key '{key}' is given twice, first in line {line}", "keep one of them"),
    "E103": Wording("the key {key} is {kind}, not a string", "{fix}"),
    "E104": Wording(
        "the aliases of this file expand to more than {limit:,} values",
        "write the values out instead of anchors that contain aliases",
    ),
    "E105": Wording("more than {limit} levels of nesting"),
    "E106": Wording(
        "the file has {size:,} bytes, at most {limit:,} are read", "split the file, or name it under ignore"
    ),
    "E107": Wording("the tag {tag} is not allowed", "write plain YAML without tags"),
    "E108": Wording("not valid UTF-8: byte {byte}", "save the file as UTF-8"),
    "E109": Wording("the character {char} is not allowed in YAML", "delete it"),
    "E110": Wording("{value} is not a number that JSON knows", "write a finite number, or the text in quotes"),
    "E111": Wording(
        "the line has {length:,} bytes, at most {limit:,} are read", "write the text over several lines, as with '>-'"
    ),
    "E112": Wording("the file holds more than {limit:,} values", "split the file, or name it under ignore"),
    "E113": Wording("the key has {length:,} characters, at most {limit:,} are read", "give it a shorter name"),
    "E114": Wording(
        "the aliases of this file expand to more than {limit:,} characters",
        "write the texts out, or keep them in a ConfigMap of their own",
    ),
    "E115": Wording("here are {limit} problems: the rest of the file is not read", "mend these first"),
    "E116": Wording("here are {limit} problems: the rest of this object is not judged", "mend these first"),
    # 12x–14x: files and the command line
    "E120": Wording("cannot be read: {what}"),
    "E121": Wording("this link leads out of the tree, to {target}", "copy the file, or name the link under ignore"),
    "E122": Wording("no such file or folder"),
    "E123": Wording(
        "nothing to render: no Playground, Service, ModelRoute, InferenceModel, OpenModel or BackendRuntime in {files}",
        "name another path, or allow it with --allow-empty",
    ),
    "E124": Wording("this name holds control characters, or is no UTF-8", "rename the file"),
    "E125": Wording("nothing to check: no Kubernetes object in {files}", "name another path"),
    "E126": Wording("stale: not what the input makes", "run llmaz render"),
    "E127": Wording("missing: the input makes this file", "run llmaz render"),
    "E128": Wording("to be deleted: nothing makes this file any more", "run llmaz render"),
    "E129": Wording("not written by llmaz, and Argo CD or Flux would sync it", FOREIGN_HINT),
    "W129": Wording("not written by llmaz, and Argo CD or Flux would sync it", FOREIGN_HINT),
    "E130": Wording("'{text}' is no KEY=VALUE", "write it as gateway.mode=off"),
    "E131": Wording("the value is no YAML: {what}", "put KEY=VALUE into the shell's quotes as a whole"),
    "E132": Wording("'{parent}' is no map, so '{key}' cannot be set"),
    "E133": Wording(
        "Kubernetes {value} is below 1.30, the oldest that the manifests run on",
        "set targets.kubernetes to 1.30 or above",
    ),
    "E140": Wording("cannot be written: {what}", "nothing is half written; mend the cause and run again"),
    "E141": Wording("in the way, and not written by llmaz", "move it away, or render to another folder with -o"),
    "E144": Wording(
        "this is a link, and nothing is written through links", "put a folder or file in its place, or delete it"
    ),
    "E145": Wording(
        "'{value}' is no folder inside of the tree",
        "write a relative path without '..', such as rendered; -o on the command line may name any folder",
    ),
    "E143": Wording("the output folder holds the input", "name a folder of its own, with -o or output.dir"),
    "E142": Wording("passThrough takes YAML text only: {what}", "leave the file out of passThrough"),
    "E150": Wording("cannot be written: {what}"),
    "E151": Wording("the system says: {what}", "no file is half written; mend the cause and run again"),
    # 16x: how much there may be
    "E160": Wording(
        "RenderConfig has {count:,} environments, at most {limit} are rendered",
        "put the others into a repository, or a folder with an llmaz.yaml, of their own",
    ),
    # 18x: processes
    "E161": Wording("the Python package {package} cannot be loaded: {what}", "{hint}"),
    "E180": Wording(
        "a worker process was killed by {signal}",
        "every file is whole; it may be that memory ran out: give the run more, and run again",
    ),
    "E181": Wording("memory ran out", "every file is whole; give the run more memory, and run again"),
    # 2xx: names, references, claims
    "E201": Wording("{kind} '{name}' is already in {file}:{line}", "give one of them another name"),
    "E202": Wording(
        "{other} is called '{name}' too, in {file}:{line}; both would make {what} of that name",
        "give one of them another name",
    ),
    "E203": Wording("no OpenModel is named '{name}'", "{hint}"),
    "E204": Wording("a RenderConfig is already in {name}", "keep one, in the file llmaz.yaml at the top of the tree"),
    "E205": Wording("no BackendRuntime is named '{name}'", "{hint}"),
    "E206": Wording("the BackendRuntime '{backend}' has no recommendedConfig '{name}'", "{hint}"),
    "E207": Wording("the model '{model}' has no flavor '{name}'", "{hint}"),
    "E208": Wording(
        "the flavors {names} have different limits or sizes, so one pod cannot run on each",
        "claim flavors with equal limits and params, or set flavorPolicy: first",
    ),
    "E210": Wording(
        "passThrough ('{pattern}') would bring this {kind} to the cluster as well, where {reader}",
        "{hint}",
    ),
    "E211": Wording(
        "passThrough copies this {kind} into the output, and {owner} renders it as well",
        "leave one of the two out, or rename it: where both are applied, the one undoes the other",
    ),
    "E212": Wording("{kind} has apiVersion {right}, not '{version}'", "write apiVersion: {right}"),
    "E213": Wording("there is no kind '{kind}' in {version}", "{hint}"),
    "E215": Wording(
        "adapters are for Playgrounds: nobody knows how the engine of a Service loads them",
        "write a Playground, or load the adapter by the engine's own arguments and leave it out",
    ),
    "E217": Wording("a RenderConfig is read from llmaz.yaml only", "move it there, to the top of the tree"),
    "E218": Wording("a list of objects is not read", "write each object as a document of its own, with --- between"),
    "E220": Wording(
        "only one of modelClaim and modelClaims may be given", "keep modelClaim for one model, modelClaims for several"
    ),
    "E221": Wording("no model is named", "write spec.{field}"),
    "E222": Wording("modelName is missing or empty", "name an OpenModel"),
    "E223": Wording("no model is listed", "name at least the main model under models"),
    "E224": Wording("no model has the role main", "give one model role: main"),
    "E225": Wording(
        "more than one model has the role main: {names}",
        "keep one; a Playground of its own serves another",
    ),
    "E226": Wording(
        "a draft model goes with exactly one main model, here are {count} models", "list one main and one draft"
    ),
    "E227": Wording("the field '{word}' is empty", "{hint}"),
    "E228": Wording("{what}", "{hint}"),
    "E229": Wording("{what}", "{hint}"),
    "E230": Wording("only one of modelHub and uri may be given", "remove uri, which the operator ignores, or modelHub"),
    "E231": Wording("the source names neither modelHub nor uri", "write source.modelHub.modelID or source.uri"),
    "E232": Wording("modelID is missing or empty", "write it as organisation/name"),
    "E233": Wording(
        "'{value}' is no repository id", "write it as organisation/name: letters, digits, '-', '_' and '.'"
    ),
    "E234": Wording("'{value}' is no path of a file in the repository", "write it from the top, as in folder/file"),
    "E235": Wording("{hub} cannot load a single file", "use allowPatterns, or Huggingface"),
    "E236": Wording("{field} has no meaning beside filename", "remove filename, or all patterns"),
    "E237": Wording("{what}", "{hint}"),
    "E240": Wording("'{value}' is no URI: exactly one '://' is needed", "write it as s3://bucket/path"),
    "E241": Wording("no loader knows the scheme '{scheme}'", "{hint}"),
    "E242": Wording("'{value}' is incomplete", "write it as {form}"),
    "E243": Wording("'{value}' {what}", "write the path of the folder or file itself"),
    "E244": Wording("'{value}' is no absolute path of a node", "write it as host:///path/to/model"),
    "E245": Wording("'{value}' names no model", "write the model's name and tag behind ://"),
    "E247": Wording("'{value}' is no image reference", "write it as oci://registry/repository@sha256:…"),
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
    "E253": Wording("{name} '{value}' is no whole number above 0", "write digits only, as in 2 or 8192"),
    "E255": Wording(
        "{size} accelerators for one model, and of {name} none works together with another",
        "lower it, or take a flavor with other accelerators",
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
    "E350": Wording(
        "an HPA does not ask Prometheus itself",
        "write type: prometheusAdapter, or autoscaling.autoscaler: keda",
    ),
    "E351": Wording(
        "KEDA has to ask Prometheus here, and nobody says where it is",
        "write autoscaling.keda.prometheus.serverAddress in RenderConfig, or scale on cpu",
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
    "E390": Wording(
        "the LeaderWorkerSet of this role is called '{name}' ({length} characters); at most {limit} fit its pods",
        "shorten the name of the set or of the role by {less}",
    ),
    "E391": Wording("a DisaggregatedSet refuses {what}", "{hint}"),
    "E392": Wording("an autoscaler cannot scale {what}", "{hint}"),
    "E393": Wording(
        "the {kind} '{name}' selects no pod of the DisaggregatedSet '{workload}' by {label}: {why}",
        "leave this label out, or mend its value",
    ),
    "E360": Wording(
        "the adapter would be asked for as '{name}', as {other} is",
        "give the adapter's OpenModel another servedModelName",
    ),
    "E361": Wording("'{name}' is {what}", "{hint}"),
    "E362": Wording(
        "the adapter '{name}' was trained on {base}, and '{main}' is {id}",
        "claim it beside that model; where both are the same, correct spec.facts.adapter.base or leave it out",
    ),
    "E363": Wording("the adapter '{name}' has rank {rank}, and {option} is at most {most} here", "{hint}"),
    "E364": Wording(
        "{option} takes the place of the claimed adapters, which would not be loaded",
        "leave it out, and claim each adapter as an OpenModel with role lora; or load all by it, and claim none",
    ),
    "E365": Wording(
        "{option} {value} holds fewer adapters than the {count} that are claimed",
        "write at least {count}, or leave it out: it follows from how many there are",
    ),
    "E366": Wording(
        "'{backend}' loads no adapters that requests could ask for by name",
        "set backendName: {able}; or merge the adapter into its model, and serve that",
    ),
    "E367": Wording("'{name}' holds '{mark}', and {why}", "{hint}"),
    "E368": Wording(
        "the engine cannot load the adapter '{name}' itself: it takes the usual revision of a repository of the "
        "Hugging Face hub, or a folder",
        "drop the annotation llmaz.io/skip-model-loader, or put the adapter on a claim (pvc://)",
    ),
    "E369": Wording("the Playground '{app}' has no adapter '{name}'", "{hint}"),
    "E394": Wording(
        "the {kind} in {file}:{line} makes an InferenceModelRewrite of the name '{name}' too",
        "give one of them another name",
    ),
    "E395": Wording(
        "the {kind} '{name}' in {file}:{line} tells the picker of '{pool}' something else about '{model}'", "{hint}"
    ),
    "E396": Wording(
        "{option} switches off the adapters that are claimed", "leave it out, or claim no OpenModel with role lora"
    ),
    "E397": Wording("{option} {value} leaves no room for an adapter", "write at least 1, or leave it out"),
    "E398": Wording(
        "{option} is one of {values}, not {value}",
        "write {least}, or leave it out: it follows from spec.facts.adapter.rank",
    ),
    "E280": Wording("'{name}' cannot name a workload", "{hint}"),
    "E281": Wording(
        "'{name}' has {length} characters, at most {limit} fit",
        "shorten the name to {most} characters; Services and Pods are named after it",
    ),
    "E282": Wording("'{name}' is no name of a namespace", "use small letters, digits and '-', at most 63 characters"),
    "E283": Wording("'{name}' cannot be the name of an object", "{hint}"),
    "E284": Wording(
        "'{value}' cannot be the value of the label llmaz.io/model-family-name",
        "use letters, digits, '-', '_' and '.', at most 63 characters",
    ),
    "E285": Wording("size {value} is below 1"),
    "E286": Wording(
        "no container of {key} is called model-runner", "give the container that serves the model this name"
    ),
    "E287": Wording("the volume '{name}' has the name of one that the model needs", "rename the volume"),
    "E288": Wording(
        "'{name}' is also the name of a Service that '{other}' needs, in {file}:{line}", "give one of them another name"
    ),
    "E289": Wording(
        "the weights land at {path}, where those of '{model}' lie already",
        "rename the file or folder, or load one another way",
    ),
    "E290": Wording(
        "the flavors {names} have different runtime classes, and a pod has one",
        "give them one runtimeClassName, or set flavorPolicy: first",
    ),
    "E291": Wording("'{name}' is set by the renderer, or by LeaderWorkerSet", "take a key of your own domain"),
    "E292": Wording("there is no '{name}' to delete", "{hint}"),
    "E293": Wording("{field} of model-runner: not to be changed here", "{hint}"),
    "E294": Wording("'{name}' is given twice", "merge the two into one"),
    "E295": Wording("no container is called '{name}', and a new one needs an image", "{hint}"),
    "E296": Wording("'{name}' cannot be deleted", "it is the container that serves the model"),
    "E297": Wording("'{field}' has no meaning beside $patch: delete", "leave it out, or write $patch: replace"),
    "E298": Wording("'{value}' is {what}", "{hint}"),
    "E299": Wording("{what}", "{hint}"),
    # 31x–32x: weights on claims
    "E310": Wording(
        "'{value}' names no claim", "write it as pvc://CLAIM/PATH, with the name of a PersistentVolumeClaim"
    ),
    "E311": Wording(
        "'{value}' means nothing here", "write ?layout=hub for a hub's cache, beside modelHub, or leave it out"
    ),
    "E312": Wording(
        "'{value}' holds a hub's cache, and nothing says which repository of it",
        "write source.modelHub.modelID beside uri, or leave ?layout=hub out",
    ),
    "E313": Wording(
        "only one of modelHub and uri may be given, unless the claim holds the hub's cache",
        "write pvc://{claim}?layout=hub where it does, or leave one of them out",
    ),
    "E314": Wording(
        "a cache of {hub} cannot be read from a claim", "{known} has one; or name the folder: pvc://CLAIM/PATH"
    ),
    "E315": Wording(
        "the file '{name}' has no fixed path in a hub's cache",
        "name it without modelHub, as pvc://{claim}/models--ORG--NAME/snapshots/COMMIT/{name}",
    ),
    "E316": Wording(
        "the engine would look for '{name}' in the hub's cache on the claim '{claim}', and nowhere else",
        "put all models of the app into that cache, or name folders: pvc://CLAIM/PATH",
    ),
    "E317": Wording(
        "no loader brings these weights, so nothing is there to be kept",
        "leave modelCache out, or load from a hub or a bucket",
    ),
    "E318": Wording(
        "the volume '{name}' is a claim of each pod, by modelCache.perPod", "leave the volume out, or modelCache.perPod"
    ),
    "E319": Wording(
        "modelCache.hostPath is a folder of the node, filled as root, which PodSecurity restricted refuses",
        "write modelCache.pvc or modelCache.perPod, or hardening: default",
    ),
    "E320": Wording(
        "{modes} cannot be mounted by the Job that fills the claim and by pods of other nodes",
        "write ReadWriteMany, with a storage class that has it, or modelCache.perPod",
    ),
    "E321": Wording("a claim cannot have the size '{value}'", "write what the weights need, and some more, as 20Gi"),
    # 3xx: what a schema says
    "E301": Wording("there is no field '{word}'", "{hint}"),
    "E302": Wording("the field '{word}' is missing", "{hint}"),
    "E303": Wording("{wanted} is needed, this is {found}", "{hint}"),
    "E304": Wording("'{value}' is not allowed, only {allowed}", "{hint}"),
    "E305": Wording("'{value}' is no quantity", "write it as 500m, 2, 16Gi"),
    "E306": Wording("'{value}' does not fit", "write {means}"),
    "E307": Wording("{what}"),
    # 33x: workloads
    "E330": Wording(
        "LeaderWorkerSet makes a headless Service called '{name}' itself",
        "write workload.kind: Deployment where replicas are one pod each, or take another name",
    ),
    "E332": Wording(
        "no container of the pod listens on {port}, only {ports}",
        "write the port into ports of the container that answers",
    ),
    "E333": Wording(
        "priorityClass is Kueue's, and without a queue Kueue leaves the workload alone",
        "write queue too, or priorityClassName into podTemplate.spec for the scheduler's own priority",
    ),
    "E334": Wording("a replica of {size} pods, and those of a Deployment are one pod each", "leave kind out"),
    "E335": Wording("a Deployment has no {field}", "leave it out, or leave kind out"),
    "E336": Wording(
        "Kueue knows replicas by their numbers, and with groupIdentity Hash they have none",
        "leave groupIdentity out, or the queue",
    ),
    "E340": Wording(
        "{factors} = {size} accelerators, and no number of pods with {count} each has as many",
        "choose sizes whose product divides by {count}; a pod's accelerators are said at {place}",
    ),
    "E341": Wording(
        "{size} accelerators need {hosts} pods for a replica, and '{backend}' serves a model with one",
        "backends that can: {able}; else lower the sizes, or write a Service with a template of your own",
    ),
    "E342": Wording(
        "'{backend}' knows no {key} parallelism: nothing in its runtime would say it to the engine",
        "leave it out, or choose a backend that does: {able}",
    ),
    "E343": Wording(
        "'{option}' beside sizes that spec.parallelism or several hosts settle",
        "leave it out, and say sizes under spec.parallelism",
    ),
    "E344": Wording(
        "data {data} beside pipeline {pipeline} ({other}): engines cannot do both", "leave one of them out"
    ),
    "E345": Wording(
        "a data parallel rank has all of its accelerators in one pod, and {tensor} does not divide {count}",
        "choose a tensor size that divides {count}",
    ),
    "E359": Wording(
        "pipeline stages of tensor {tensor} on pods of {count}: one of them would end inside of a pod",
        "choose a tensor size that {count} divides, or that divides {count}",
    ),
    "E356": Wording(
        "expert parallelism is for a mixture of experts, and '{model}' is none",
        "leave expert out",
    ),
    "E357": Wording("'{backend}' runs no draft model beside {sizes}: {why}", "leave the draft model or {sizes} out"),
    "E358": Wording(
        "'{name}', in {file}:{line}, has the name of a StatefulSet that LeaderWorkerSet makes for workers of '{app}'",
        "give one of them another name",
    ),
    "E346": Wording("EP '{value}' is neither true nor false", "write 'true' in quotes, or leave it out"),
    "E347": Wording(
        "{ranks} data parallel ranks a pod, each with a port, and a pool has at most {most}",
        "raise tensor, so that a pod has fewer ranks, or set gateway.mode to backend, where they share a port",
    ),
    "E348": Wording(
        "data {data} over {hosts} hosts is for a mixture of experts, and '{model}' is none",
        "leave data out, and let replicas or elasticConfig run more copies",
    ),
    "E349": Wording(
        "{ranks} data parallel ranks a pod, each with a port, and {what}",
        "{hint}",
    ),
    "E337": Wording(
        "the flavor claims devices in RenderConfig's catalog, and {name} would ask for more of them",
        "leave {name} out of the limits, or claims out of the catalog",
    ),
    "E338": Wording(
        "presets/accelerators.yaml has no DeviceClass '{name}', so nobody knows whose devices it gives", "{hint}"
    ),
    "E339": Wording(
        "devices are claimed by resource.k8s.io/v1, which Kubernetes has from 1.34 on, and the target is {target}",
        "write targets.kubernetes: '1.34' where every cluster has it, or limits instead of claims",
    ),
    # 37x: KV cache outside of accelerators
    "E370": Wording(
        "{memory} of memory cannot hold the {cpu} of kvCacheOffloading.cpu, in {file}:{line}",
        "write {sum}, which is {cpu} more than the engine gets without it",
    ),
    "E371": Wording(
        "{size} of shared memory cannot hold the {cpu} of kvCacheOffloading.cpu, in {file}:{line}, beside what the "
        "engine has there",
        "write {sum}, or leave this size out",
    ),
    "E372": Wording("'{backend}' {what}", "{hint}"),
    "E373": Wording("{given} says what kvCacheOffloading says, in {file}:{line}", "leave one of them out"),
    "E374": Wording(
        "a replica of {hosts} pods: nobody has seen KV cache outside of accelerators work over several hosts",
        "leave it out, or take a flavor with which one host suffices",
    ),
    "E375": Wording(
        "prefill and decode need a picker that asks both, and gateway.mode is {mode}",
        "write spec.gateway.mode: pool, or leave spec.disaggregation out",
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
    # 4xx: engines
    "E401": Wording("'{backend}' does not run on {vendor}", "{hint}"),
    "E402": Wording("the model has no flavor, and '{backend}' has to know what its pod gets", "{hint}"),
    "E403": Wording("{app}: '{backend}' cannot read {format}", "{hint}"),
    "E404": Wording("{app}: '{backend}' cannot take weights from {source}", "{hint}"),
    "E405": Wording("{app}: '{backend}' reads one file, and this is a whole directory", "{hint}"),
    "E406": Wording("{option} cannot be set here", "{hint}"),
    "E407": Wording(
        "'{backend}' has no recommendedConfig '{name}', which a draft model needs",
        "{hint}",
    ),
    "E408": Wording(
        "{app}: '{backend}' gets only one part of a weights file that is split", "merge the parts into one file"
    ),
    "E409": Wording(
        "{app}: under llmaz.io/skip-model-loader the engine would get the repository, not the file '{name}'",
        "drop the annotation, or the filename",
    ),
    "E411": Wording("{app}: '{backend}' cannot stream this from {scheme}://", "{hint}"),
    "E412": Wording("{app}: '{backend}' cannot load from {hub} itself", "{hint}"),
    "E413": Wording("{app}: '{backend}' cannot open the one file '{name}'", "{hint}"),
    "E414": Wording("'{backend}' cannot serve under the name '{name}'", "{hint}"),
    "E415": Wording(
        "{app}: '{backend}' takes no draft model in {draft} beside a main model in {main}",
        "{hint}",
    ),
    "E416": Wording(
        "{option}: {size} accelerators are needed, the pod has {count} of {name}",
        "{hint}",
    ),
    "E417": Wording(
        "the config '{name}' speaks of a draft model, and none is claimed",
        "list one with role: draft under modelClaims, or take another config",
    ),
    "E420": Wording("this template cannot be filled: {what}", "{hint}"),
    "E421": Wording("two recommendedConfigs are named '{name}'", "rename one of them"),
    "E422": Wording("two files are named '{name}', in different folders", "rename one of them"),
    "E423": Wording("there is no list of options '{name}'", "name a file beside this one, or one of llmaz's own"),
    "E424": Wording(
        "this is no regular expression: {what}", "write it as RE2 reads it: without look-around and backreferences"
    ),
    "E425": Wording("the list of options cannot be read: {what}", "print it with llmaz's scripts/make_options.py"),
    "E426": Wording("engine.options.groups has no group '{name}'", "{hint}"),
    "E430": Wording("{of} has no option '{option}'", "{hint}"),
    "E431": Wording("{of} no longer has the option '{option}'", "{hint}"),
    "E432": Wording("{of}: '{option}' is not the whole name of an option", "{hint}"),
    "E433": Wording("{of}: the option '{option}' needs a value", "{hint}"),
    "E434": Wording("{of}: the option '{option}' is given twice, first as item {first}", "keep one of them"),
    "E435": Wording("{of}: the option '{option}' takes no value", "leave out what follows '='"),
    "E436": Wording(
        "the image's entrypoint leaves the argument '{arg}' to a shell, which takes it apart",
        "write it without blanks and wildcards, or use a BackendRuntime whose command is the server itself",
    ),
    "E437": Wording("{of}: no option takes the value '{value}'", "{hint}"),
    "E438": Wording("'{backend}' takes no arguments", "it is set by its environment: write backendRuntimeConfig.envs"),
    "E444": Wording("{backend} {version} {what}", "{hint}"),
    "E445": Wording("{of} does not take '{given}', which the preset gives it: the pod would not start", "{hint}"),
    "E446": Wording(
        "no version is in this range: {until} is not newer than {since}", "'until' is the first version behind it"
    ),
    "E447": Wording("the runtime gives no option '{option}'", "name one of its own arguments, as it is spelt there"),
    # 5xx: what a cluster would refuse
    "E448": Wording(
        "the flavor '{flavor}' asks for capabilities or the node's network, which PodSecurity restricted refuses",
        "write hardening: default, or leave them out of the flavor",
    ),
    "E501": Wording("no Kubernetes object: apiVersion and kind are needed"),
    "E502": Wording("Kubernetes {removed} removed {kind} of {version}", "{hint}"),
    "E511": Wording("{what}"),
    "E512": Wording("{field} '{value}' is neither a number nor a percentage up to 100%"),
    "E513": Wording(
        "maxUnavailable and maxSurge both come to 0 of {replicas}", "allow one group to be down, or one more to run"
    ),
    "E514": Wording("{what}"),
    "E515": Wording("LWS rewrites restartPolicy Default to None, so it would drift", "write None"),
    "E516": Wording("this annotation needs a subGroupPolicy", "write one, or leave the annotation out"),
    "E520": Wording("the {what} '{name}' is already there", "rename one of them"),
    "E521": Wording("no volume is called '{name}'", "name one of the pod's volumes"),
    "E522": Wording("no port of this container is called '{name}'", "name one of its ports"),
    "E524": Wording("'{name}' has a value and a valueFrom", "keep one of them"),
    "E525": Wording("the limit of {name} must equal its request {request}", "write both alike"),
    "E526": Wording("{value} of {name}: only whole ones can be given", "ask for a whole number"),
    "E527": Wording(
        "{hook} sleeps {seconds} seconds, longer than the pod's grace period of {grace}",
        "raise terminationGracePeriodSeconds, or sleep less",
    ),
    "E523": Wording(
        "the request {request} of {name} is above its limit {limit}", "raise the limit or lower the request"
    ),
    "E528": Wording("the fields of a pod have apiVersion v1, not '{version}'", "leave it out"),
    "E530": Wording("{what}"),
    "E531": Wording("{what}"),
    "E540": Wording("{what}"),
    "E542": Wording("the selector does not match the labels of its own pods"),
    "E543": Wording("{what}"),
    "E550": Wording("'{name}' is already scaled by {other}", "keep one autoscaler for each workload"),
    "E551": Wording("the {kind} '{name}' owns the number of replicas", "leave spec.replicas out"),
    "E552": Wording("LWS makes a Service called '{name}' of its own", "call this one '{name}-lb'"),
    "E553": Wording("the leader's containers do not listen on {port}, only on {ports}", "set targetPort to one"),
    "E554": Wording(
        "a headless Service translates no ports: {port} leads to {port}, not to {target}", "make the two ports one"
    ),
    "E555": Wording("no container of the {kind} '{name}' is called '{container}'", "{hint}"),
    "E560": Wording("kubeconform: {what}"),
    "E561": Wording("kubeconform did not run: {what}", "name the program: --kubeconform=PATH"),
    "E570": Wording("{message}"),
    "E571": Wording("another item of this list has {what} too", "keep one of them"),
    "E572": Wording("the group of {kind} is missing", "write its group and version, as in apps/v1"),
    "E617": Wording(
        "the Gateway {name} has {count:,} models, and with these API keys at most {most:,} fit into the 4 MiB of one "
        "message",
        "use JWT for many tenants, or give namespaces Gateways of their own (gateway.perNamespace); or raise both "
        "message limits, and say so with gateway.maxModels",
    ),
    # 62x: routes and gateways
    "E620": Wording(
        "the Gateway '{name}' is given two values of {key}", "say it once, or give '{namespace}' a Gateway of its own"
    ),
    "E621": Wording("auth names neither apiKeys nor jwt", "write auth.apiKeys.secretName, or a provider in auth.jwt"),
    "E622": Wording(
        "no claim of this provider becomes the header '{header}'", "name it in claimToHeaders, or as auth.tenantHeader"
    ),
    "E623": Wording("the served name has {length:,} bytes, a header's value may have {most:,}", "shorten it"),
    "E624": Wording(
        "nobody asks who calls on the Gateway {name}, so nobody can be allowed",
        "write gateway.auth in RenderConfig, or leave allow out",
    ),
    "E625": Wording(
        "the name '{model}' on the Gateway {gateway} belongs to the {kind} {other}, in {file}:{line}", "{hint}"
    ),
    "E626": Wording(
        "the Gateway {name} has {count:,} models, at most {most:,} fit into the 4 MiB of one message",
        "give namespaces Gateways of their own (gateway.perNamespace); or raise maxRecvMsgSize of the AI gateway and "
        "extensionManager.maxMessageSize of Envoy Gateway, and say so with gateway.maxModels",
    ),
    "E627": Wording(
        "with {parts} this and '{other}' in {file}:{line} both need the name '{name}'", "rename one of them"
    ),
    "E628": Wording(
        "the route {name} of '{namespace}' would hold {count} models, at most {most} fit",
        "set gateway.routeBuckets: {fits}",
    ),
    # The chain from a Gateway to a pod: renderer/check/graph
    "E580": Wording("there is no {kind} '{name}'{where}", "{hint}"),
    "E581": Wording("the Gateway '{gateway}' has no listener {what}", "its listeners: {known}"),
    "E582": Wording("no listener of the Gateway '{gateway}' takes routes of namespace '{namespace}'", "{hint}"),
    "E583": Wording("no listener of the Gateway '{gateway}' serves the host '{hostname}'", "they serve {served}"),
    "E584": Wording(
        "this route names {own}, and '{other}' on the same listener of '{gateway}' names {its}: for {hosts}, models of "
        "the others answer 404",
        "{hint}",
    ),
    "E585": Wording(
        "the route '{other}' on the Gateway '{gateway}' already has the model '{model}', {so}",
        "give it another name, host or Gateway, or make it one rule with several backendRefs",
    ),
    "E586": Wording("all backends have weight 0, so every request is answered with 500", "give one of them a weight"),
    "E587": Wording("a rule without backendRefs answers every request with 500", "name a backend, or drop the rule"),
    "E588": Wording(
        "without matches on headers the rule is lost among the catch-alls, and answers 404",
        "match the header x-ai-eg-model",
    ),
    "E589": Wording(
        "the name has {length} characters; what the AI gateway makes of it is too long above {most}", "shorten it"
    ),
    "E590": Wording(
        "the AI gateway makes an HTTPRoute '{name}' of the AIGatewayRoute of that name, and takes this one over",
        "rename one of them",
    ),
    "E591": Wording("the Service '{name}' has no port {port}, only {ports}", "name one of its ports"),
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
    "E669": Wording(
        "authorization asks for the header '{header}', and nothing sets it here: whoever sends it himself passes",
        "name a header that authentication sets, of which there are: {known}",
    ),
    "E670": Wording(
        "the {kind} '{name}' selects no pod of the LeaderWorkerSet '{workload}' by {label}: {why}",
        "leave this label out, or mend its value",
    ),
    "E671": Wording(
        "'{host}' is asked on port 443 without TLS: it refuses requests, whose key is readable on the way",
        "write spec.tls: {{wellKnownCACertificates: System, sni: {host}}}",
    ),
    "E672": Wording(
        "only some may call '{name}' ({rule}), and this {kind} leads others to its pods",
        "delete it and write a ModelRoute with spec.gateway.allow, or give it a SecurityPolicy whose authorization "
        "allows nobody else",
    ),
    "E673": Wording(
        "only some may call '{name}' ({rule}), and by this Service clients outside of the cluster reach its pods "
        "past the Gateway",
        "leave it a ClusterIP, without externalIPs, and let clients come through the Gateway",
    ),
    "E674": Wording(
        "only some may call '{name}' ({rule}), and by this grant routes of namespace '{namespace}' may lead to "
        "its {kind}",
        "name what they need under spec.to, or write the route in the namespace of the model",
    ),
    # 70x: targets
    "E700": Wording(
        "{what} needs {name} {needed}, the target is {said}",
        "leave it out; if the cluster has it, say so in RenderConfig under targets.{target}",
    ),
    "E701": Wording("{name} {value} is older than {oldest}, the oldest that this llmaz knows", "say {oldest} or above"),
    "E702": Wording(
        "{name} {value} is newer than {newest}, the newest that this llmaz knows",
        "say {newest}: a target is the oldest version that the manifests have to run on",
    ),
    "E703": Wording("LeaderWorkerSet 0.11 refuses {what}", "{hint}"),
    "E720": Wording("git knows no remote 'origin', so nobody knows where the cluster reads", "write --repo-url URL"),
    "E721": Wording("'{value}' is no name", "write {what}"),
    "E722": Wording("'{path}' does not lie in the repository", "write the folder as seen from the repository's top"),
    "E723": Wording("{value} {what}", "{hint}"),
    "E724": Wording(
        "'{value}' would be the same for {names}, which would overwrite each other",
        "write {{env}} for the environment's name, or print one by --env NAME",
    ),
    "E725": Wording("'{name}' would be made for {owners}", "rename one of them, or print one by --env NAME"),
    "E726": Wording("Argo CD gave no call that a plugin can follow: {what}", "mend the Application's source.plugin"),
    "E727": Wording(
        "nothing was rendered, and Argo CD would delete all that is there",
        "mend the Application's path; to delete it all, delete the Application",
    ),
    # 73x: kustomize
    "E730": Wording(
        "{what}, where a ResourceList of config.kubernetes.io/v1 is expected", "let kustomize run this command"
    ),
    "E731": Wording(
        "the ResourceList has no functionConfig",
        "give kustomize a RenderConfig, under generators or transformers of the kustomization",
    ),
    "E732": Wording(
        "the functionConfig is {what}, where a RenderConfig of renderer.llmaz.io/v1alpha1 is expected",
        "name a file that holds one, under generators or transformers of the kustomization",
    ),
    "E733": Wording("'{value}' {what}", "name files and folders by the folder of the kustomization"),
    "E734": Wording(
        "this is a second RenderConfig", "keep the functionConfig, which kustomize hands over; ignore skips files"
    ),
    "E735": Wording(
        "{what} is among the items, and a generator reads files",
        "list the RenderConfig under generators instead of transformers, or leave spec.paths out",
    ),
    "E736": Wording("this is made here, and stands among the items already", "remove or rename one of the two"),
    "E737": Wording(
        "nothing was rendered: no Playground, Service, ModelRoute or InferenceModel {where}",
        "mend spec.paths, or what the kustomization lists",
    ),
    "E738": Wording(
        "{key} is about files, and a transformer is given objects", "leave it out: other objects pass by themselves"
    ),
    "E739": Wording(
        "somebody has rendered before: Rendered llmaz is there already",
        "delete it by a patch behind that one, or keep one RenderConfig only",
    ),
    # 74x: charts
    "E740": Wording(
        "PATHS are a part of the input, and the chart would lack what depends on all of it: {files}",
        "run it without PATHS",
    ),
    "E741": Wording(
        "holds a chart of other input too: {file} was made from {source}, which lies outside of PATHS",
        "run it without PATHS, or name another folder with -o",
    ),
    "E742": Wording("holds plain manifests of llmaz, such as {file}", "name another folder with -o"),
    "E743": Wording("{folder}/ holds the chart that llmaz render --to helm writes", "name another folder with -o"),
    "E665": Wording(
        "'{host}' stands for '{nearer}' too, but there the other names of the Gateway answer, and this one is unknown",
        "name '{nearer}' too, or leave hostnames out",
    ),
    "E666": Wording("an API of {schema} {what}", "{hint}"),
    "E667": Wording("'{name}' may be {these}", "write a ModelRoute, which names apps"),
    "E668": Wording(
        "the experimental channel of Gateway API, which targets.gatewayAPIChannel names, refuses a route for the name "
        "'{name}'",
        "write a name of printable ASCII, with single blanks between words at most",
    ),
    # 75x: environments
    "E750": Wording("there is no environment '{name}'", "{hint}"),
    "E751": Wording("there is no environment '{name}' to begin with", "{hint}"),
    "E752": Wording("{what}", "{hint}"),
    "E753": Wording("no {kind} is named '{name}'", "{hint}"),
    "E754": Wording("'{name}' is the name of several: {names}", "write one of them, as {first}"),
    "E755": Wording("'{name}' is the {kind} that '{other}' patches already", "keep one of them"),
    "E756": Wording("{what} is about one environment, and there are {names}", "name one, as --env {first}"),
    "E757": Wording("{key} holds in every environment", "write it below spec, not in an environment"),
    "E758": Wording("--set cannot change environments", "write it into llmaz.yaml, or leave environments out of it"),
    # 76x: llmaz init
    "E760": Wording(
        "is there already",
        "llmaz init overwrites nothing: name another folder, or move this away; a workflow stays with --ci none",
    ),
    "E761": Wording("'{value}' is no name of a branch", "write it in letters, digits, '.', '_', '-' and '/'"),
    "E762": Wording(
        "'{value}' is an artifact, and the cluster is to read a git repository",
        "write --repo-url https://host/path, or ssh://git@host/path",
    ),
    "E763": Wording(
        "'{value}' is no cluster", "write https://host:port, or the name by which Argo CD knows the cluster"
    ),
    "E764": Wording("'{value}' names no action", "write OWNER/REPOSITORY@REF, with a commit for REF"),
    "E765": Wording("the folder '{value}' cannot be named in a workflow", "rename it, or write --ci none"),
    "E766": Wording(
        "lies below {config}, and whatever lies there is rendered by it",
        "name a folder beside it, or add a Playground there instead",
    ),
    # 78x: git
    "E770": Wording(
        "this is no OBJECT[.FIELD]",
        "write KIND/NAMESPACE/NAME, KIND/NAME, NAME or a rendered file, such as lws/llm/chat or lws/chat.spec.replicas",
    ),
    "E771": Wording("no kind that is rendered is called '{kind}'", "{hint}"),
    "E772": Wording("'{field}' is no path of a field", "write it as spec.containers[0].args[3], or containers[NAME]"),
    "E773": Wording("there is no field '{field}' in {here}", "{hint}"),
    "E774": Wording("there is no item '{item}' in {here}", "{hint}"),
    "E775": Wording("{here} is {value!r}: there is nothing below it, so no '{field}'", "leave out what follows it"),
    "E776": Wording("this may be one of {count}: {known}", "name one of them"),
    "E777": Wording("nothing that is rendered is called '{what}'", "{hint}"),
    "E780": Wording("git did not run: {what}", "install git, or name two folders"),
    "E781": Wording("git says: {what}", "name a commit, branch or tag of a git repository"),
    "E782": Wording("git knows no commit '{name}'", "{hint}"),
    "E783": Wording("'{one}' and '{other}' have no commit in common", "fetch more, as with fetch-depth: 0"),
    "E784": Wording(
        "this clone is a partial one, and has not all of it: {what}",
        "fetch all of it: git fetch --refetch --no-filter; with actions/checkout leave filter out",
    ),
    "E785": Wording("this is too much to read: {what}", "check it out, and compare what llmaz render writes"),
    "E786": Wording("this lies in the repository {other}, and not in {top}", "run llmaz diff in {other}"),
    "E787": Wording(
        "git does not trust the repository: {what}", "git config --global --add safe.directory, and that folder"
    ),
    # 79x: Karpenter's nodes
    "E790": Wording(
        "RenderConfig does not say what nodes are like",
        "write spec.karpenter: role or instanceProfile, amiAlias, subnetSelectorTerms, securityGroupSelectorTerms",
    ),
    "E791": Wording("nodes need {what}", "write it into karpenter, or into karpenter.perFlavor of each flavor"),
    "E792": Wording(
        "nothing says which nodes the flavor '{name}' means",
        "give it a nodeSelector or params.INSTANCE-TYPE, in the model or in RenderConfig's flavors.{name}",
    ),
    "E793": Wording(
        "Karpenter keeps the label '{name}' for itself, so no pool of nodes can have it", "select another label"
    ),
    "E794": Wording(
        "the flavor '{name}' means other nodes for {other} than for {first}",
        "give one of them another name, or let the cluster's catalog (RenderConfig's flavors) say it for both",
    ),
    "E795": Wording(
        "'{name}' cannot be the name of a node pool",
        "call the flavor by small letters, digits and '-', with karpenter.namePrefix at most 63 characters",
    ),
    "E796": Wording("is there already, and not written by llmaz", "move it away, or name another file with -o"),
    "E797": Wording(
        "lies in {folder}/, where llmaz render deletes what it does not make", "name a file elsewhere with -o"
    ),
    "E798": Wording(
        "of the flavor '{name}' a pod asks for {asked} of {resource}, and {names} with these requirements has {most}",
        "name a larger instance type, ask for less, or mend karpenter.requirements and architectures",
    ),
    "E799": Wording(
        "{what} of {app} take {weights} GiB of each node of '{flavor}', whose disk has {size}",
        "raise volumeSize, with room for images and for every pod of a node, or use instanceStorePolicy: RAID0",
    ),
    # 80x–82x: RenderPolicy
    "E800": Wording(
        "a RenderPolicy is read from {name} only", "move it there, beside llmaz.yaml, or name it by --policy"
    ),
    "E801": Wording("this is a second document of {name}", "keep one: a RenderPolicy, and nothing else"),
    "E802": Wording("a policy is not read through a link", "write the RenderPolicy into this file itself"),
    "E803": Wording("no RenderPolicy is in this file", "write one, or delete the file: without it nothing is denied"),
    "E804": Wording(
        "the policy of {name} cannot be read, so nothing is judged as allowed: {what}",
        "mend this file in a change of its own, and merge that first",
    ),
    "E810": Wording("denied by {rule}: {file} may not write {where}", "{hint}"),
    "E811": Wording(
        "denied by {rule}: {file} may not define OpenModels", "claim one of those who may, or ask them to add '{name}'"
    ),
    "E812": Wording(
        "denied by {rule}: {file} may not define BackendRuntimes",
        "use one of those who may, or ask them to add '{name}'",
    ),
    "E813": Wording("denied by {rule}: {file} may not define {what}", "give it another name"),
    "E814": Wording("denied by {rule}: the namespace '{namespace}' {what}", "{hint}"),
    "E815": Wording("denied by {rule}: the image '{image}'", "allowed: {allowed}"),
    "E816": Wording("denied by {rule}: the host '{host}'", "allowed: {allowed}"),
    "E817": Wording("denied by {rule}: the source '{source}' of '{name}'", "allowed: {allowed}"),
    "E818": Wording("denied by {rule}: the folder '{path}' of the node", "allowed: {allowed}"),
    "E819": Wording("denied by {rule}: the service account '{name}'", "allowed: {allowed}"),
    "E820": Wording("denied by {rule}: the priority class '{name}'", "allowed: {allowed}"),
    "E821": Wording("denied by {rule}: hostNetwork, the network of the node", "leave hostNetwork out"),
    "E822": Wording("denied by {rule}: hostPID, the processes of the node", "leave hostPID out"),
    "E823": Wording(
        "denied by {rule}: a privileged container", "leave it out, and name the capabilities that it needs"
    ),
    "E824": Wording("denied by {rule}: runAsUser: 0, which is root", "write another user, or leave runAsUser out"),
    "E825": Wording("denied by {rule}: {what} in a file that is passed through", "allowed: {allowed}"),
    "E826": Wording(
        "denied by {rule}: the llmaz.yaml of the folder '{folder}' may not set {key}", "allowed for: {allowed}"
    ),
    "E827": Wording(
        "denied by {rule}: the llmaz.yaml of the folder '{folder}' may not set {key}", "allowed for: {allowed}"
    ),
    "E828": Wording(
        "denied by {rule}: the llmaz.yaml of the folder '{folder}' may not set {key}", "allowed for: {allowed}"
    ),
    # 84x: ValidatingAdmissionPolicies
    "E840": Wording("the API server does not take this expression: {what}", "mend the expression"),
    "E841": Wording(
        "the binding '{binding}' is for the policy '{policy}', which is in no file of admission",
        "add its file to admission of the RenderPolicy, or mend policyName",
    ),
    "E842": Wording(
        "ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denies the {kind} '{name}': {message}",
        "the rule is at {rule}, the binding at {bound}",
    ),
    "E843": Wording("a {kind} of version {version} is not judged", "write it as admissionregistration.k8s.io/v1"),
    "E844": Wording("a ValidatingAdmissionPolicy '{name}' is already at {place}", "keep one of them, or rename one"),
    "E845": Wording(
        "no file fits '{glob}'", "mend the path, which starts at the folder of the RenderPolicy, or leave it out"
    ),
    # 86x: files that a cluster gets although no input makes them
    "E860": Wording("'{rule}' hides {file} from Helm", HELM_IGNORE_HINT),
    "E861": Wording(
        "no input makes this file, although it begins with the first line of rendered files",
        "delete it, or run llmaz render, which does",
    ),
    "E862": Wording(
        "nothing makes this file any more, and Argo CD or Flux may still sync {folder}/, which the base has rendered",
        "delete it, and have what syncs {folder}/ sync the new folder",
    ),
    "E863": Wording(
        "not written by llmaz, and the settings of the base do not allow it",
        "delete it, or change {key} in a pull request of its own, which is merged first",
    ),
    "E864": Wording("this is a link here, so what it sets cannot be judged", "write a file in its place"),
    "E865": Wording("not what the input makes: {what}", "run llmaz render --to helm, and commit what it writes"),
    "E870": Wording(
        "Helm does not know the hook '{hook}', and would leave this object out of the release",
        "name one of {known}, or leave the annotation out",
    ),
    "E872": Wording("'{old}' is the old name of '{name}', which stands beside it", "leave '{old}' out"),
    # 9xx: our own fault
}
