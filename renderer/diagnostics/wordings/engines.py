"""Wordings about engines and their presets: options and values, versions, sizes in parallel, KV cache, templates."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

_TOO_LARGE: Final = Wording(
    "{size} GiB of weights do not fit on {count} of type {type}: each would hold {share} GiB, and has {card} GiB, "
    "of which the engine itself needs a part",
    "{hint}",
)
ENGINES: Final[dict[str, Wording]] = {
    "E205": Wording("no BackendRuntime is named '{name}'", "{hint}"),
    "E206": Wording("the BackendRuntime '{backend}' has no recommendedConfig '{name}'", "{hint}"),
    "W212": Wording("the engine's options are not derived from this number of {name}", "set it in the flavor's limits"),
    "W214": Wording("nothing reads the param '{name}'", "did you mean '{meant}'?", replaces=("name", "meant")),
    "E215": Wording(
        "adapters are only for Playgrounds: how the engine of a Service loads them is unknown",
        "write a Playground, or leave the adapter out and load it with the engine's own arguments",
    ),
    "W228": Wording(
        "{option} {seconds} after a hook of {sleep} seconds: the pod is killed after {grace} seconds, while requests "
        "still run",
        "set terminationGracePeriodSeconds: {least} in the podTemplate, or lower {option}",
    ),
    "W230": Wording("'{backend}': {notice}"),
    "W400": Wording(
        "{backend} {version} is newer than every version that llmaz knows: its options are checked against those of "
        "{nearest}",
        "{hint}; until then an option that is reported may be right",
    ),
    "W887": Wording(
        "no release {version} of {backend} is known, though newer ones are: unless it was withdrawn, its image does "
        "not exist",
        "take the tag {below} or {above}",
    ),
    "W231": Wording(
        "the options of {backend} {version} are unknown, so none is checked",
        "{hint}",
    ),
    "W232": Wording(
        "{of}: '{option}' and '{other}' set one option in two ways, and only one of them counts",
        "write it all as keys after one spelling, or all as one JSON value",
    ),
    "W233": Wording(
        "'{backend}' cannot serve under this name here: clients have to request '{name}'",
        "leave servedModelName out, or add a route, which rewrites the name",
    ),
    "W234": Wording(
        "{option} replaces {path}, which passes the draft model to the engine",
        "set the draft model in your own file too, or leave it out",
    ),
    "W235": Wording("{option}: {why}", "{hint}"),
    "W474": Wording(
        "{factors} makes each replica {hosts} hosts with {each} each{fit}",
        "for one host {remedy}; if several hosts are meant, write hosts: {meant} beside it",
    ),
    "W888": Wording(
        "{what}: the engine does one part of each request, and nothing sends it such parts (docs/disaggregation.md)",
        "{hint}",
    ),
    "W886": Wording(
        "the flavor '{flavor}' has the {count} of the model's flavor '{own}', and not its {params}",
        "write parallelism: {{{sizes}}} in spec, or the sizes that you mean",
    ),
    "W236": Wording(
        "only {size} of {count} {name} work, the others idle",
        "{hint}",
    ),
    "W237": Wording("0 of {name}: the pod has no accelerator", "leave it out if the pod is to run on CPUs"),
    "W249": Wording("{slots} requests at once share {tokens}{share}", "{hint}"),
    "W250": Wording("the engine serves its model as '{served}', but requests name '{name}'{where}", "{hint}"),
    "W251": Wording(
        "nothing loads '{path}': the models of the claim{where} are in {loaded}",
        "write {hint}, or claim the model that you mean",
    ),
    "W257": Wording(
        "{param} has no effect: '{backend}' does not support {key} parallelism, so nothing passes it to the engine",
        "leave it out, or choose a backend that does: {able}",
    ),
    "W335": Wording(
        "data {data} over {hosts} hosts is for mixture-of-experts models, and the facts of '{model}' do not say that "
        "it is one",
        "set spec.facts.parameters and activeParameters in the OpenModel",
    ),
    "E474": Wording(
        "hosts says {said}, but {factors} makes {made} where a pod has {pod}",
        "{hint}",
    ),
    "E340": Wording(
        "{factors} = {size} accelerators is not a multiple of the {count} that each pod has",
        "choose sizes whose product is divisible by {count}; the accelerators of a pod are set at {place}",
    ),
    "E341": Wording(
        "a replica of {size} accelerators needs {hosts} pods, and '{backend}' can use only one",
        "backends that can use several: {able}; else lower the sizes, or write a llmaz Service with your own pod "
        "template",
    ),
    "E342": Wording(
        "'{backend}' does not support {key} parallelism: nothing in its runtime passes the size to the engine",
        "leave it out, or choose a backend that does: {able}",
    ),
    "E343": Wording(
        "'{option}' cannot be set here: with spec.parallelism or several hosts, llmaz sets it",
        "leave it out, and set sizes under spec.parallelism",
    ),
    "E344": Wording(
        "data {data} beside pipeline {pipeline} ({other}): engines cannot do both", "leave one of them out"
    ),
    "E345": Wording(
        "a data parallel rank has all of its accelerators in one pod, and {tensor} does not divide {count}",
        "choose a tensor size that is a divisor of {count}",
    ),
    "E346": Wording("EP '{value}' is neither true nor false", "write 'true' in quotes, or leave it out"),
    "E347": Wording(
        "{ranks} data parallel ranks in a pod have a port each, and a pool has at most {most} ports",
        "raise tensor, so that a pod has fewer ranks, or set gateway.mode to backend, where they share a port",
    ),
    "E348": Wording(
        "data {data} over {hosts} hosts is for mixture-of-experts models, and '{model}' is not one",
        "leave data out, and let replicas or elasticConfig run more copies",
    ),
    "E349": Wording("{ranks} data parallel ranks in a pod have a port each, and {what}", "{hint}"),
    "E356": Wording(
        "expert parallelism is for mixture-of-experts models, and '{model}' is not one",
        "leave expert out",
    ),
    "E357": Wording(
        "'{backend}' cannot run a draft model together with {sizes}: {why}",
        "leave the draft model or {sizes} out",
    ),
    "E359": Wording(
        "pipeline stages of tensor {tensor} on pods with {count} accelerators: a stage would end in the middle of a "
        "pod",
        "choose a tensor size that is a multiple or a divisor of {count}",
    ),
    "E370": Wording(
        "{memory} of memory cannot hold the {cpu} of kvCacheOffloading.cpu, in {file}:{line}",
        "write {sum}, which is {cpu} more than the engine gets without it",
    ),
    "W370": Wording(
        "nothing keeps the files of '{backend}' below {size}: above that the node evicts the pod",
        "use a claim (pvc), or set a size that is never reached",
    ),
    "E371": Wording(
        "{size} of shared memory cannot hold the {cpu} of kvCacheOffloading.cpu, in {file}:{line}, in addition to what "
        "the engine keeps there",
        "write {sum}, or leave this size out",
    ),
    "E372": Wording("'{backend}' {what}", "{hint}"),
    "E373": Wording("{given} is already set by kvCacheOffloading, in {file}:{line}", "leave one of them out"),
    "E374": Wording(
        "a replica of {hosts} pods: KV cache offloading over several hosts is untested",
        "leave it out, or use a flavor for which one host is enough",
    ),
    "E396": Wording("{option} disables the claimed adapters", "leave it out, or claim no OpenModel with role lora"),
    "E397": Wording("{option} {value} leaves no room for an adapter", "write at least 1, or leave it out"),
    "E398": Wording(
        "{option} must be one of {values}, not {value}",
        "write {least}, or leave it out: it follows from spec.facts.adapter.rank",
    ),
    "E401": Wording("the backend '{backend}' does not run on {vendor}", "{hint}"),
    "E402": Wording("the model has no flavor, and '{backend}' needs to know the accelerators of its pod", "{hint}"),
    "E403": Wording("{app}: '{backend}' cannot read {format}", "{hint}"),
    "E404": Wording("{app}: '{backend}' cannot load weights from {source}", "{hint}"),
    "E405": Wording("{app}: '{backend}' reads one file, and this is a whole directory", "{hint}"),
    "E406": Wording("{option} cannot be set here", "{hint}"),
    "E407": Wording(
        "'{backend}' has no recommendedConfig '{name}', which a draft model needs",
        "{hint}",
    ),
    "E408": Wording(
        "{app}: '{backend}' would get only one part of a split weights file",
        "{hint}",
    ),
    "E409": Wording(
        "{app}: under llmaz.io/skip-model-loader the engine would get the repository, not the file '{name}'",
        "drop the annotation, or the filename",
    ),
    "E411": Wording("{app}: '{backend}' cannot stream weights from {scheme}://", "{hint}"),
    "E412": Wording("{app}: '{backend}' cannot load from {hub} itself", "{hint}"),
    "E413": Wording("{app}: '{backend}' cannot open the one file '{name}'", "{hint}"),
    "E414": Wording("'{backend}' cannot serve under the name '{name}'", "{hint}"),
    "E415": Wording("{app}: '{backend}' cannot use a draft model in {draft} with a main model in {main}", "{hint}"),
    "E416": Wording(
        "{option}: {size} accelerators are needed, the pod has {count} of {name}",
        "{hint}",
    ),
    "E417": Wording(
        "the config '{name}' uses a draft model, and none is claimed",
        "list one with role: draft under modelClaims, or use another config",
    ),
    "E835": Wording("the chat template '{path}' {what}", "{hint}"),
    "E836": Wording("the chat template '{path}' cannot be parsed: {what}", "correct it in that file"),
    "E837": Wording(
        "'{backend}' has no use for a chat template of a model for {task}, as '{model}' is",
        "remove it, or correct facts.kind of the OpenModel",
    ),
    "E420": Wording("this template cannot be filled in: {what}", "{hint}"),
    "E421": Wording("two recommendedConfigs are named '{name}'", "rename one of them"),
    "E422": Wording("two files are named '{name}', in different folders", "rename one of them"),
    "E423": Wording("there is no list of options '{name}'", "name a file beside this one, or one of llmaz's own lists"),
    "E424": Wording(
        "this is not a valid regular expression: {what}",
        "write it as RE2 reads it: without look-around and backreferences",
    ),
    "E425": Wording(
        "the list of options cannot be read: {what}",
        "write a path inside of the tree, of a file that llmaz's scripts/make_options.py has made",
    ),
    "E426": Wording("engine.options.groups has no group '{name}'", "{hint}"),
    "E427": Wording("the engine of '{backend}' cannot listen on port {port}: {why}", "{hint}"),
    "W428": Wording(
        "{name} has {count} accelerators and {volume} at /dev/shm: its processes share {size}, and may crash with a "
        "bus error",
        "{hint}",
        about="{name} has several accelerators and no volume at /dev/shm, or a small one: its processes share 64 MiB "
        "or less, and may crash with a bus error",
    ),
    "E428": Wording(
        "because of the Service '{service}', Kubernetes sets {variable} in {name}, which reads it as a setting of its "
        "own and exits",
        "write enableServiceLinks: false beside containers, or give the Service another name",
    ),
    "W429": Wording(
        "{kind} '{name}' cannot scale up from zero: its triggers use metrics that only pods of '{target}' report",
        "write minReplicaCount: 1, or add a trigger whose metric exists without these pods",
    ),
    "W451": Wording(
        "{name} accepts connections from its own pod only: no probe, Service or route reaches it",
        "{hint}",
    ),
    "W452": Wording(
        "{name} is restarted after {seconds} s without an answer, even while it loads its model: it has no "
        "startupProbe",
        "add a startupProbe that waits as long as the model loads, such as failureThreshold: 60, periodSeconds: 10",
    ),
    "W453": Wording(
        "the {probe} uses port {port}, but {name} listens on {number}",
        "set the probe's port to {number}, or let the engine listen on {port}",
    ),
    "E483": Wording(
        "{what}: that takes compute capability {least}{most}, and the pod runs on {card}, so {engine} does not start",
        "{hint}",
    ),
    "W482": Wording(
        "{option} {value} needs weights that are stored as {format}, and those of the model are {stored}: {engine} "
        "cannot load them so, and does not start",
        "leave {option} out, or serve a repository with weights in {format}",
    ),
    "N482": Wording(
        "{name} requests {resource} without the capability IPC_LOCK: where the container runtime bounds locked memory, "
        "RDMA finds too little",
        "{hint}",
    ),
    "W491": Wording(
        "{name} may have {memory} of memory, and {engine} in that: the kernel kills it",
        "{hint}",
    ),
    "E495": Wording(
        "{ask}, but {name} answers by {scheme} alone: no such probe succeeds",
        "{hint}",
    ),
    "W495": Wording(
        "{name} is restarted {seconds} s after its start, while {work}",
        "write failureThreshold: {least} in its startupProbe",
    ),
    "W496": Wording(
        "{name} asks for no accelerator, and {image} is built for one: unless its node gives it one unasked, {engine} "
        "does not start",
        "give it limits: {{{resource}: 1}}, take an image for CPUs, or name the runtimeClassName that gives it one",
    ),
    "W494": Wording(
        "{variable} {what}",
        "leave it out: a container sees its own accelerators alone",
        about="{variable} names accelerators that are not the container's own",
    ),
    "W498": Wording(
        "{option} {value} gives the engine random weights: it answers nonsense, and is ready",
        "leave it out; it is for measurements",
    ),
    "W484": Wording(
        "{name} shares its accelerator with other pods, and takes {percent} % of the memory: the next one that starts "
        "there finds too little",
        "write {option} with the part that each of them may take, such as 0.3",
    ),
    "E499": Wording("{of} does not start with {option} {beside}", "{hint}"),
    "W499": Wording(
        "{option} {value} leaves nothing of the card for what {engine} has outside of that share: it does not start, "
        "or ends under load",
        "write {usual} or less, or leave it out",
    ),
    "E485": Wording(
        "{low} {value} is {relation} {high} {bound}: {engine} refuses to start",
        "{hint}",
    ),
    "E486": Wording(
        "{size} GiB of weights are written to {folder}, and {what} is {amount}: the kubelet evicts the pod",
        "write {least} or more there, or mount a claim of that size at {folder}",
    ),
    "W486": Wording(
        "{size} GiB of weights are written to {folder}, and {what} requests {amount}",
        "request {least} or more",
    ),
    "N490": Wording(
        "{name} writes weights to {folder} on the disk of the node, and not to the claim at {path}",
        "mount the claim at {folder}, or set HF_HOME to {path}",
    ),
    "E488": Wording(
        "{option}: {amount} of {what} lie in memory, and the limit of the container is {memory}",
        "write limits.memory: {least} or more, or lower {option}",
    ),
    "E489": Wording(
        "{option}: {amount} of KV cache lie in /dev/shm, which has {size}",
        "make it {least} or more, or lower {option}",
    ),
    "W487": Wording(
        "Service {service} leads to port {port} of {name}, which listens on {number}",
        "{hint}",
    ),
    "N480": Wording(
        "{what} is not checked: facts.{fact} of '{model}' is missing",
        "write it into the OpenModel; llmaz presets vendor copies a preset",
    ),
    "W480": Wording(
        "{size} GiB of weights do not fit on {count} of any type that we know: each would hold {share} GiB, and the "
        "largest, {largest}, has {card} GiB",
        "share them among more accelerators, or take a smaller model",
    ),
    "E455": _TOO_LARGE,
    "W455": _TOO_LARGE,
    "W456": Wording(
        "a request of {length} tokens takes {request} GiB of KV cache, and about {room} GiB are left on an accelerator "
        "of type {type}: it has {card} GiB, of which the weights take {weights} and the engine itself needs a part",
        "{hint}",
    ),
    "W457": Wording(
        "a request of {length} tokens does not fit into the KV cache of {tokens} tokens that was measured{where}",
        "lower the maximum context length",
    ),
    "W458": Wording(
        "it is too close to tell whether it fits: about {room} GiB are left for the KV cache on an accelerator of type "
        "{type}, which has {card} GiB{request}",
        "lower the maximum context length, or write what the engine prints at startup into facts.measured",
    ),
    "N459": Wording(
        "tensor parallel size {tensor} is above the {heads} of the model, so several accelerators hold the same KV "
        "cache: a request of {length} tokens takes {whole} GiB on all of them together, and would take {least} without "
        "copies",
        "lower the tensor parallel size, and use more replicas instead; or use pipeline or context parallelism",
    ),
    "N454": Wording(
        "{name} has no preStop hook{more}: at each rollout the requests that reach it while it shuts down are lost",
        "add a hook that sleeps some seconds, and a terminationGracePeriodSeconds that is long enough for long answers",
    ),
    "N475": Wording(
        "{name} looks like {backend}, by {signs} alone: it is not checked as an engine",
        "if it is one, start it by its own command",
        quiet=True,
    ),
    "N476": Wording(
        "{count} recognised by options alone, whose versions are not known: {names}",
        "llmaz check --explain-engine {place} says by which; what some version of the engine takes is not told",
    ),
    "E430": Wording("{of} has no option '{option}'", "{hint}"),
    "W430": Wording("{of} has no option '{option}'", "{hint}"),
    "E431": Wording("{of} no longer has the option '{option}'", "{hint}"),
    "W431": Wording("{of} no longer has the option '{option}'", "{hint}"),
    "E432": Wording("{of}: '{option}' is not a complete option name", "{hint}"),
    "W432": Wording("{of}: '{option}' is not a complete option name", "{hint}"),
    "E433": Wording("{of}: the option '{option}' needs a value", "{hint}"),
    "W433": Wording("{of}: the option '{option}' needs a value", "{hint}"),
    "E434": Wording("{of}: the option '{option}' is given twice, first at index {first}", "keep one of them"),
    "W434": Wording("{of}: the option '{option}' is given twice, first at index {first}", "the last one counts"),
    "E435": Wording("{of}: the option '{option}' takes no value", "leave out what follows '='"),
    "W435": Wording("{of}: the option '{option}' takes no value", "leave out what follows '='"),
    "E436": Wording(
        "the image's entrypoint passes the argument '{arg}' to a shell, which splits or expands it",
        "write it without spaces and wildcards, or use a BackendRuntime whose command is the server itself",
    ),
    "E437": Wording("{of}: the value '{value}' does not belong to any option", "{hint}"),
    "W437": Wording("{of}: the value '{value}' does not belong to any option", "{hint}"),
    "E438": Wording(
        "'{backend}' takes no arguments",
        "it is configured by environment variables: write backendRuntimeConfig.envs{instead}",
    ),
    "W439": Wording("{of}: '{option}' takes '{value}' as its value, which is itself an option", "{hint}"),
    "E400": Wording(
        "{backend} in '{image}' is version {version}, but backendRuntimeConfig.version in {file}:{line} is '{named}'",
        "leave backendRuntimeConfig.version out: the tag of the image gives the version",
    ),
    "E440": Wording("{of}: '{option}' does not accept '{value}'", "{hint}"),
    "W440": Wording("{of}: '{option}' does not accept '{value}'", "{hint}"),
    "E441": Wording("{of}: '{option}' needs {type}, not '{value}'", "{hint}"),
    "W441": Wording("{of}: '{option}' needs {type}, not '{value}'", "{hint}"),
    "W442": Wording("{of} reads '{value}' of '{option}' as {read}", "{hint}"),
    "E410": Wording(
        "{name} is '{value}' in the engine, so the engine does not see {source}",
        "leave it out: then the engine uses the same path as the other containers",
    ),
    "W418": Wording(
        "'{{{{ {word} }}}}' stays as it is: in a runtime without spec.engine nothing fills it in",
        "{hint}",
    ),
    "W419": Wording(
        "{option} runs code from the repository, and its {revision} may change at any time",
        "set source.modelHub.revision of '{model}' to a commit, or leave the option out",
    ),
    "W481": Wording(
        "{option} names '{path}', which is in no volume of the pod, and hardly in the image",
        "{hint}",
    ),
    "W411": Wording(
        "{option} names '{path}', and nothing puts it into the volume '{volume}': {content}",
        "{hint}",
    ),
    "E443": Wording("{of} does not start if '{option}' is given without {missing}", "{hint}"),
    "W443": Wording("{of} does not start if '{option}' is given without {missing}", "{hint}"),
    "W475": Wording("{of} no longer reads the variable '{name}'", "{hint}"),
    "W476": Wording("{of} does not read a variable '{name}'", "{hint}"),
    "E477": Wording("{of}: '{option}' has no key '{key}'", "{hint}"),
    "W477": Wording("{of}: '{option}' has no key '{key}'", "{hint}"),
    "E478": Wording("{of}: '{option}' does not accept '{value}' for its key '{key}'", "{hint}"),
    "W478": Wording("{of}: '{option}' does not accept '{value}' for its key '{key}'", "{hint}"),
    "W464": Wording("tags of the images of {backend} are written as '{tag}', not as '{named}'", "{hint}"),
    "W885": Wording("the image '{named}' is built for pods with {of}, and this one has {has}", "{hint}"),
    "W492": Wording(
        "{engine} {version} has no code for {architecture}, the architecture of the model, and hardly starts",
        "use {newer} or newer",
    ),
    "W497": Wording(
        "{option} names '{draft}', which no loader brings: the engine downloads it at every start, and no estimate "
        "counts it",
        "leave it out, write an OpenModel with that modelID, and claim it in modelClaims beside '{main}', "
        "with role: draft{rest}",
    ),
    "E479": Wording("the image of {of} has no {name}, which '{given}' needs", "{hint}"),
    "E444": Wording("{backend} {version} {what}", "{hint}"),
    "E445": Wording("{of} does not take '{given}', which the preset gives it: the pod would not start", "{hint}"),
    "W445": Wording("{of} does not take '{given}', which the preset gives it", "{hint}"),
    "E446": Wording(
        "no version is in this range: {until} is not newer than {since}",
        "'until' is the first version after the range",
    ),
    "E447": Wording("{giver} sets no option '{option}'", "name one of its own arguments, as it is spelt there"),
    "E448": Wording(
        "the flavor '{flavor}' requests capabilities or the host network, which PodSecurity restricted refuses",
        "write hardening: default, or leave them out of the flavor",
    ),
    "W493": Wording("'{name}' listens on 0.0.0.0, and pods.listenAddress of RenderConfig is {address}", "{hint}"),
    "N450": Wording(
        "{of} does not support everything that the preset of '{model}' sets, so this is left out: {left_out}",
        "{hint}",
        varies=True,
    ),
    "N448": Wording("{backend} {version} {what}", varies=True),
    "N449": Wording("the version of {backend} in '{image}' is unknown, so no argument is checked against it", "{hint}"),
    "N460": Wording(
        "nothing lists the options of '{name}', so a misspelt one is not found",
        "name a list under spec.engine.options.list (llmaz's scripts/make_options.py makes it of a --help), or write "
        "list: none",
    ),
    "E465": Wording("{of}: '{words}' is one command too many: {giver} '{command}' already", "{hint}"),
    "W465": Wording("{of}: '{words}' is one command too many: {giver} '{command}' already", "{hint}"),
    "E466": Wording("{of}: {what}", "{hint}", about="'{command}' does not read the model '{value}' where it stands"),
    "W466": Wording("{of}: {what}", "{hint}", about="'{command}' does not read the model '{value}' where it stands"),
    "E467": Wording("{of}: no argument names the model{why}, and {what}", "{hint}"),
    "W467": Wording("{of}: no argument names the model{why}, and {what}", "{hint}"),
    "W468": Wording(
        "{of}: '{option}' does nothing without {missing}",
        "write {missing} beside it, or leave it out",
    ),
    "E469": Wording(
        "the {probe} asks for '{path}', which {name} answers with 404",
        "write path: {right}",
    ),
    "W469": Wording(
        "{name} has no readinessProbe: Service '{service}' sends it requests while it still loads its model",
        "{hint}",
    ),
    "E470": Wording(
        "StatefulSet '{set}' starts its pods one after the other, each when the one before is ready, and {name} is not "
        "ready before all {count} hosts are there",
        "write podManagementPolicy: Parallel",
    ),
    "E471": Wording(
        "{name} looks for its other hosts through Service '{service}', which has no address of a pod that is not ready "
        "yet",
        "write publishNotReadyAddresses: true",
    ),
    "N472": Wording(
        "{option} runs code from the repository {model}, and no commit of it is named: it may change at any time",
        "write {revision} and a commit of the repository, or leave {option} out",
        quiet=True,
    ),
    "N473": Wording(
        "a rollout of Deployment '{name}' starts a pod with {count} of {of} before it ends one, and waits until they "
        "are free",
        "where none are free, write strategy: {{rollingUpdate: {{maxSurge: 0, maxUnavailable: 1}}}}",
        quiet=True,
    ),
    "W831": Wording("{option} {value} is for models such as {families}, and not for {model}: {effect}", "{hint}"),
    "E829": Wording(
        "{name} keeps the engine from asking the hub, and nothing puts {model} into {folder}: it does not start",
        "leave it out, or mount a volume with the model at {folder}",
    ),
    "W829": Wording(
        "{given}: {engine} {what} {folder}, but {why}",
        "mount a volume that can be written at {folder}",
    ),
    "E830": Wording("{option} {value}: {engine} {effect}", "{hint}"),
    "W834": Wording("{option}: {engine} {what}, and {model} is a model for {task}", "{hint}"),
    "W832": Wording("{name}: {what}", "{hint}", about="the value of a variable is none that its reader takes"),
    "W833": Wording(
        "{option} {value} does nothing: the image is built for CPUs, and {engine} computes on them alone",
        "leave it out, or give the model a flavor with an accelerator and the pod an image for it",
    ),
    "E839": Wording(
        "'{name}' is no list of options: {what}",
        "make it anew, llmaz presets learn writes such lists, or delete it",
    ),
    "N839": Wording("'{name}' is not needed: {why}", "delete the file"),
    "E872": Wording("'{old}' is the old name of '{name}', which is also given", "leave '{old}' out"),
    "E461": Wording("{app}: '{backend}' does not serve '{model}', a model of task {task}", "{hint}"),
    "W462": Wording("{option} is of another task than that of '{model}', which is {task}", "{hint}"),
    "E462": Wording("{option} contradicts the task of '{model}', which is {task}", "{hint}"),
    "E463": Wording(
        "'{draft}' has no tokens to propose: the task of '{model}' is {task}, and its engine writes none",
        "leave the draft model out",
    ),
    "E464": Wording(
        "{engine} refuses to divide the model's {heads} among {size} accelerators",
        "use a number that divides {count}, such as {fits}",
    ),
}
