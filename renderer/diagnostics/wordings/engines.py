"""Wordings about engines and their presets: options and values, versions, sizes in parallel, KV cache, templates."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

ENGINES: Final[dict[str, Wording]] = {
    "E205": Wording("no BackendRuntime is named '{name}'", "{hint}"),
    "E206": Wording("the BackendRuntime '{backend}' has no recommendedConfig '{name}'", "{hint}"),
    "W212": Wording(
        "the engine's options do not follow this number of {name}",
        "set it in the flavor's limits",
    ),
    "W214": Wording("nothing reads the param '{name}'", "did you mean '{meant}'?"),
    "E215": Wording(
        "adapters are for Playgrounds: nobody knows how the engine of a Service loads them",
        "write a Playground, or load the adapter by the engine's own arguments and leave it out",
    ),
    "W228": Wording(
        "{option} {seconds} behind a hook of {sleep} seconds: the pod is killed after {grace}, with requests running",
        "write terminationGracePeriodSeconds: {least} into the podTemplate, or fewer seconds",
    ),
    "W230": Wording("'{backend}': {notice}"),
    "W400": Wording(
        "{backend} {version} is newer than every version that is known: its options are judged by those of {nearest}",
        "look for a newer llmaz; until then an option that is told may be right",
    ),
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
    "W249": Wording("{slots} requests at once share {tokens}{share}", "{hint}"),
    "W250": Wording("the engine calls its model '{served}', and is asked for '{name}'{where}", "{hint}"),
    "W251": Wording(
        "nothing loads '{path}': the models of the claim{where} lie in {loaded}",
        "write {hint}, or claim the model that is meant",
    ),
    "W257": Wording(
        "{param} has no effect: '{backend}' knows no {key} parallelism, so nothing would say it to the engine",
        "leave it out, or choose a backend that does: {able}",
    ),
    "W335": Wording(
        "data {data} over {hosts} hosts is for a mixture of experts, and the facts of '{model}' do not say that it is",
        "say spec.facts.parameters and activeParameters in the OpenModel",
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
    "E356": Wording(
        "expert parallelism is for a mixture of experts, and '{model}' is none",
        "leave expert out",
    ),
    "E357": Wording("'{backend}' runs no draft model beside {sizes}: {why}", "leave the draft model or {sizes} out"),
    "E359": Wording(
        "pipeline stages of tensor {tensor} on pods of {count}: one of them would end inside of a pod",
        "choose a tensor size that {count} divides, or that divides {count}",
    ),
    "E370": Wording(
        "{memory} of memory cannot hold the {cpu} of kvCacheOffloading.cpu, in {file}:{line}",
        "write {sum}, which is {cpu} more than the engine gets without it",
    ),
    "W370": Wording(
        "nothing keeps the files of '{backend}' below {size}: once there are more, the node ends the pod",
        "name a claim as pvc, or a size that is never reached",
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
    "E396": Wording(
        "{option} switches off the adapters that are claimed", "leave it out, or claim no OpenModel with role lora"
    ),
    "E397": Wording("{option} {value} leaves no room for an adapter", "write at least 1, or leave it out"),
    "E398": Wording(
        "{option} is one of {values}, not {value}",
        "write {least}, or leave it out: it follows from spec.facts.adapter.rank",
    ),
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
        "this is not a valid regular expression: {what}",
        "write it as RE2 reads it: without look-around and backreferences",
    ),
    "E425": Wording("the list of options cannot be read: {what}", "print it with llmaz's scripts/make_options.py"),
    "E426": Wording("engine.options.groups has no group '{name}'", "{hint}"),
    "E427": Wording("the engine of '{backend}' cannot listen on port {port}: {why}", "{hint}"),
    "W428": Wording(
        "{name} has {count} accelerators and no volume at /dev/shm: its processes share 64 MiB, and may end with a bus "
        "error",
        "mount an emptyDir with medium: Memory there",
    ),
    "E428": Wording(
        "the Service '{service}' makes Kubernetes set {variable} in {name}, which reads something else in it and ends",
        "write enableServiceLinks: false beside containers, or call the Service otherwise",
    ),
    "W429": Wording(
        "{kind} '{name}' has no replica to wake it: its triggers ask for metrics that only pods of '{target}' have",
        "write minReplicaCount: 1, or a trigger on what is there without them",
    ),
    "W451": Wording("{name} serves its own pod alone: no probe, Service or route reaches it", "{hint}"),
    "W452": Wording(
        "{name} is ended after {seconds} s without an answer, also while it loads its model: nothing says when it has "
        "started",
        "add a startupProbe that waits as long as the model loads, such as failureThreshold: 60, periodSeconds: 10",
    ),
    "W453": Wording(
        "the {probe} asks port {port}, and {name} listens on {number}",
        "write the port that it listens on, or tell the engine the other one",
    ),
    "E455": Wording(
        "{size} GiB of weights do not fit on {count} of type {type}: {share} GiB on each, of {card} GiB", "{hint}"
    ),
    "W455": Wording(
        "{size} GiB of weights do not fit on {count} of type {type}: {share} GiB on each, of {card} GiB", "{hint}"
    ),
    "W456": Wording(
        "a request of {length} tokens takes {request} GiB of KV cache, and about {room} GiB are left on an accelerator "
        "of type {type}: it has {card} GiB, of which the weights take {weights}",
        "{hint}",
    ),
    "W457": Wording(
        "a request of {length} tokens does not fit into the KV cache of {tokens} tokens that was measured{where}",
        "lower the longest context",
    ),
    "W458": Wording(
        "nobody knows whether it fits: about {room} GiB are left for the KV cache on an accelerator of type {type}, of "
        "{card} GiB{request}",
        "lower the longest context, or write what the engine prints at its start into facts.measured",
    ),
    "N459": Wording(
        "tensor parallel size {tensor} is above the {heads} of the model, so several accelerators keep the same: a "
        "request of {length} tokens takes {whole} GiB of KV cache on all of them together, and {least} without copies",
        "share the layers among fewer accelerators, with more replicas, or by pipeline or context parallelism",
    ),
    "N454": Wording(
        "{name} has no preStop hook: requests that reach it while it ends are lost, at each rollout",
        "add a hook that sleeps some seconds, and a terminationGracePeriodSeconds that longer answers fit in",
    ),
    "E430": Wording("{of} has no option '{option}'", "{hint}"),
    "W430": Wording("{of} has no option '{option}'", "{hint}"),
    "E431": Wording("{of} no longer has the option '{option}'", "{hint}"),
    "W431": Wording("{of} no longer has the option '{option}'", "{hint}"),
    "E432": Wording("{of}: '{option}' is not the whole name of an option", "{hint}"),
    "W432": Wording("{of}: '{option}' is not the whole name of an option", "{hint}"),
    "E433": Wording("{of}: the option '{option}' needs a value", "{hint}"),
    "W433": Wording("{of}: the option '{option}' needs a value", "{hint}"),
    "E434": Wording("{of}: the option '{option}' is given twice, first as item {first}", "keep one of them"),
    "W434": Wording("{of}: the option '{option}' is given twice, first as item {first}", "the last one counts"),
    "E435": Wording("{of}: the option '{option}' takes no value", "leave out what follows '='"),
    "W435": Wording("{of}: the option '{option}' takes no value", "leave out what follows '='"),
    "E436": Wording(
        "the image's entrypoint leaves the argument '{arg}' to a shell, which takes it apart",
        "write it without blanks and wildcards, or use a BackendRuntime whose command is the server itself",
    ),
    "E437": Wording("{of}: no option takes the value '{value}'", "{hint}"),
    "W437": Wording("{of}: no option takes the value '{value}'", "{hint}"),
    "E438": Wording("'{backend}' takes no arguments", "it is set by its environment: write backendRuntimeConfig.envs"),
    "W439": Wording("{of}: '{option}' takes '{value}' for its value, which is an option itself", "{hint}"),
    "E400": Wording(
        "{backend} in '{image}' is version {version}, and backendRuntimeConfig.version in {file}:{line} says '{named}'",
        "leave backendRuntimeConfig.version out: the tag of the image says it",
    ),
    "E440": Wording("{of}: '{option}' does not take '{value}'", "{hint}"),
    "W440": Wording("{of}: '{option}' does not take '{value}'", "{hint}"),
    "E441": Wording("{of}: '{option}' takes {type}, not '{value}'"),
    "W441": Wording("{of}: '{option}' takes {type}, not '{value}'"),
    "W442": Wording("{of} reads '{value}' of '{option}' as {read}", "write the number itself"),
    "E410": Wording(
        "{name} is '{value}' in the engine, so it does not see {source} in {path}",
        "leave it out; it is where all containers of the pod have it",
    ),
    "W418": Wording("'{{{{ {word} }}}}' stays as it is: nothing fills it in a runtime without spec.engine", "{hint}"),
    "W419": Wording(
        "{option} runs code of the repository, whose {revision} may change under it",
        "say a commit in source.modelHub.revision of '{model}', or leave the option out",
    ),
    "W411": Wording(
        "{option} names '{path}', and nothing puts it into the volume '{volume}': {content}",
        "bring the file by a volume or an init container of podTemplate, or name one that the image has",
    ),
    "E443": Wording("{of} does not start where '{option}' is given without {missing}", "{hint}"),
    "W443": Wording("{of} does not start where '{option}' is given without {missing}", "{hint}"),
    "E444": Wording("{backend} {version} {what}", "{hint}"),
    "E445": Wording("{of} does not take '{given}', which the preset gives it: the pod would not start", "{hint}"),
    "W445": Wording("{of} does not take '{given}', which the preset gives it", "{hint}"),
    "E446": Wording(
        "no version is in this range: {until} is not newer than {since}", "'until' is the first version behind it"
    ),
    "E447": Wording("{giver} gives no option '{option}'", "name one of its own arguments, as it is spelt there"),
    "E448": Wording(
        "the flavor '{flavor}' asks for capabilities or the node's network, which PodSecurity restricted refuses",
        "write hardening: default, or leave them out of the flavor",
    ),
    "N450": Wording(
        "{of} does not have all that the preset of '{model}' gives it, so this is left out: {left_out}", "{hint}"
    ),
    "N448": Wording("{backend} {version} {what}"),
    "N449": Wording(
        "nobody knows which version of {backend} is in '{image}', so no argument is checked against it", "{hint}"
    ),
    "E872": Wording("'{old}' is the old name of '{name}', which stands beside it", "leave '{old}' out"),
}
