"""Wordings about OpenModels: sources and formats of weights, flavors, caches and loaders, adapters."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

MODELS: Final[dict[str, Wording]] = {
    "W201": Wording(
        "the flavors {names} have different limits or sizes: only '{first}' is used",
        "to make this explicit, set 'flavorPolicy: first'; or claim flavors with equal limits and params",
    ),
    "E200": Wording("these facts contradict others: {what}", "correct the facts, or leave out what was not measured"),
    "E203": Wording("no OpenModel is named '{name}'", "{hint}"),
    "E207": Wording("neither the model '{model}' nor RenderConfig has a flavor '{name}'", "{hint}"),
    "W207": Wording("two flavors are named '{name}': the first one is used", "rename one of them"),
    "E208": Wording(
        "the flavors {names} have different limits or sizes, so one pod cannot run on each",
        "claim flavors with equal limits and params, or set flavorPolicy: first",
    ),
    "E268": Wording(
        "accelerators of type '{name}' are from {vendor}, but the limits request {resource}, which is from {other}",
        "set a type from {other}, or request the resource of {vendor}",
    ),
    "E269": Wording(
        "the labels of this flavor select nodes with {other}, not {name}",
        "write accelerator: {other}, leave it out, or correct the labels",
    ),
    "W932": Wording(
        "no card of type {card} has instances of profile {profile}, so the pod would wait for ever",
        "{hint}",
    ),
    "E209": Wording("no accelerator type is named '{name}'", "{hint}"),
    "W209": Wording("the resource '{name}' is unknown, so it does not count as an accelerator", "{hint}"),
    "W210": Wording(
        "{field} has no effect under llmaz.io/skip-model-loader: the engine gets all of '{model}'",
        "drop the annotation, or the patterns",
    ),
    "W211": Wording(
        "the flavors {names} have different {what}: only '{first}' is used",
        "to make this explicit, set 'flavorPolicy: first'; or give them the same {keys}",
    ),
    "W927": Wording(
        "{name} keeps the loader from asking the hub, so it loads nothing, and its pods do not start",
        "leave it out; engines have the variable from pods.env, which loaders do not get",
    ),
    "W213": Wording("the flavor '{name}' has no limits and is in no catalog, so its pods get no accelerator", "{hint}"),
    "W916": Wording(
        "'{name}' is one name with a comma in it",
        "write servedModelName: {first}, and a ModelRoute with modelName: {rest} over it",
    ),
    "W917": Wording(
        "a repository of the hub has a branch or tag 'latest' only where its owner made one, else nothing is loaded",
        "write the name of a branch that it has, such as main, or a commit",
    ),
    "W915": Wording("the {what} of a {kind} reaches no object, so nothing acts on it", "{hint}"),
    "W215": Wording(
        "the flavor sets {limit} of {name}, so {value} has no effect",
        "{hint}, or leave it out",
    ),
    "W218": Wording(
        "'{loader}' is deleted, so nothing fills the volume '{volume}'",
        "give the volume another source, such as a persistentVolumeClaim that holds the weights",
    ),
    "E220": Wording(
        "only one of modelClaim and modelClaims may be given", "keep modelClaim for one model, modelClaims for several"
    ),
    "E221": Wording("no model is named", "write spec.{field}"),
    "W221": Wording(
        "the flavors {names} have different limits or sizes: the pod requests those of '{first}' on the nodes of each",
        "claim flavors with equal limits, or set flavorPolicy: first",
    ),
    "E222": Wording("modelName is missing or empty", "name an OpenModel"),
    "W222": Wording(
        "nothing passes the draft model to the engine: its path is in no argument, variable or file",
        "{hint}",
    ),
    "E223": Wording("no model is listed", "name at least the main model under models"),
    "E224": Wording("no model has the role main", "give one model role: main"),
    "W224": Wording(
        "by its name the repository '{name}' holds GGUF files, and no file is chosen: all would be loaded",
        "write one as source.modelHub.filename{hint}",
    ),
    "E225": Wording(
        "more than one model has the role main: {names}",
        "{hint}",
    ),
    "W225": Wording(
        "the patterns leave out {name}, so the engine gets weights without the files that describe them",
        "include configuration and tokenizer too, for example with '*.json'",
    ),
    "W924": Wording(
        "by the name of its repository the model has {billions}B parameters, which take {gib} GiB at 4 bits alone "
        "and do not fit on {count} of type {type}",
        "share them among more accelerators, or write facts.weightsGiB of the OpenModel where its files are smaller",
    ),
    "W920": Wording(
        "the patterns leave out all files with weights: of model.safetensors and its parts nothing is loaded",
        "leave these files in, with '*.safetensors' in allowPatterns and not in ignorePatterns",
    ),
    "E226": Wording(
        "a draft model goes with exactly one main model, but {count} models are listed",
        "list one main and one draft",
    ),
    "W226": Wording(
        "the model's {heads} cannot be divided evenly among {size} accelerators",
        "use a number that divides {count}, such as {fits}, or correct facts.attention.{field} of the OpenModel",
    ),
    "E227": Wording("the field '{word}' is empty", "{hint}"),
    "W227": Wording(
        "{length} tokens are more than the {longest} that the model supports, and most engines then refuse to start",
        "{hint}",
    ),
    "W229": Wording(
        "'{name}' is mounted where the loader's weights are, so the engine sees only one of the two",
        "give the volume '{volume}' this source, and the loader fills it; or mount '{name}' elsewhere",
    ),
    "E230": Wording("only one of modelHub and uri may be given", "remove uri, which the operator ignores, or modelHub"),
    "E231": Wording("the source names neither modelHub nor uri", "write source.modelHub.modelID or source.uri"),
    "E232": Wording("modelID is missing or empty", "write it as organisation/name"),
    "W925": Wording(
        "'{value}' names no organisation: the hub has repositories without one only from its first years",
        "write it as organisation/name",
    ),
    "W926": Wording(
        "without effect beside '{first}', the first of several models in one server: {key} of '{model}'",
        "{hint}",
    ),
    "E233": Wording("'{value}' is not a repository id", "{hint}"),
    "E940": Wording("'{name}' is not the first part of a split file", "{hint}"),
    "E941": Wording("'{value}' is no projector", "{hint}"),
    "E933": Wording(
        "{of} does not start with this file: {why}",
        "{hint}",
    ),
    "W933": Wording("{key} has no effect here: {why}", "{hint}"),
    "W934": Wording("the server calls this model '{model}'{why}", "{hint}"),
    "W935": Wording("{what} {effect}", "{hint}"),
    "W936": Wording(
        "{of} has {count} models and keeps {most} of them in memory: to load another it ends one that still answers",
        "use {since} or a newer version, which waits for the end of its answers",
    ),
    "E944": Wording("{what} does not go with {count} main models in one server", "{hint}"),
    "E945": Wording("{value} cannot be in memory at once: {what}", "{hint}"),
    "E946": Wording("{key} {what}", "{hint}"),
    "E947": Wording("{option} cannot stand {why}", "{hint}"),
    "E942": Wording("{app}: '{backend}' takes no {what}", "{hint}"),
    "E943": Wording(
        "{option} says a {what}, and so does {key} of '{owner}'",
        "remove one of them",
    ),
    "E234": Wording(
        "'{value}' is not a path of a file in the repository",
        "write it relative to the root of the repository, as in folder/file",
    ),
    "E235": Wording("{hub} cannot load a single file", "use allowPatterns, or Huggingface"),
    "E236": Wording("{field} has no meaning beside filename", "remove filename, or all patterns"),
    "E237": Wording("{what}", "{hint}", about="a pattern of files that the loader cannot take: {what}"),
    "E240": Wording("'{value}' is not a URI: exactly one '://' is needed", "{hint}"),
    "E241": Wording("no loader knows the scheme '{scheme}'", "{hint}"),
    "E242": Wording("'{value}' is incomplete", "write it as {form}"),
    "E243": Wording("'{value}' {what}", "write the path of the folder or file itself"),
    "E244": Wording("'{value}' is not an absolute path on a node", "write it as host:///path/to/model"),
    "E246": Wording("'{value}' has the host {host} where the name of the bucket belongs", "{hint}"),
    "W928": Wording("'{bucket}' cannot be the name of a bucket of {scheme}://", "write its name: {names}"),
    "E245": Wording("'{value}' names no model", "write the model's name and tag after ://"),
    "E284": Wording(
        "'{value}' cannot be the value of the label llmaz.io/model-family-name",
        "use letters, digits, '-', '_' and '.', at most 63 characters",
    ),
    "E289": Wording(
        "the weights would be at {path}, where those of '{model}' already are",
        "rename the file or folder, or load one of them in another way",
    ),
    "E290": Wording(
        "the flavors {names} have different {what}, and all pods of a workload are alike",
        "give them the same {keys}, or set flavorPolicy: first",
    ),
    "E310": Wording(
        "'{value}' does not name a claim",
        "write it as pvc://CLAIM/PATH, with the name of a PersistentVolumeClaim",
    ),
    "N256": Wording(
        "the size of the weights of '{model}' is not set, so its engine is restarted after {seconds} s if it has not "
        "started; with {billions}B parameters they have about {gib} GiB{share}, which may take longer to load",
        "write facts: {{weightsGiB: {gib}}}, or the exact size of its files instead of {gib}; then the engine gets "
        "more time to start",
    ),
    "N914": Wording(
        "no model, Playground or Service of this tree uses these flavors of the catalog: {names}",
        "leave them out, unless other trees use them, or claim them by inferenceFlavors",
    ),
    "W310": Wording(
        "an engine that loads '{name}' by itself does not use this cache",
        "leave out modelCache, or the setting that skips the loaders",
    ),
    "E311": Wording(
        "'{value}' has no meaning here",
        "write ?layout=hub for a hub's cache, beside modelHub, or leave it out",
    ),
    "W311": Wording(
        "the cache of '{name}' keeps {revision} as it is when the cache is filled",
        "set revision to a commit or a tag; when it changes, the weights are loaded again",
    ),
    "E312": Wording(
        "'{value}' holds a hub's cache, and no repository of it is named",
        "write source.modelHub.modelID beside uri, or leave ?layout=hub out",
    ),
    "E313": Wording(
        "only one of modelHub and uri may be given, unless the claim holds the hub's cache",
        "write pvc://{claim}?layout=hub if it does, or leave one of them out",
    ),
    "E314": Wording(
        "a cache of {hub} cannot be read from a claim", "{known} has one; or name the folder: pvc://CLAIM/PATH"
    ),
    "E315": Wording(
        "the file '{name}' has no fixed path in a hub's cache",
        "name it without modelHub, as pvc://{claim}/models--ORG--NAME/snapshots/COMMIT/{name}",
    ),
    "E316": Wording(
        "the engine would look for '{name}' only in the hub's cache on the claim '{claim}'",
        "put all models of the app into that cache, or name folders: pvc://CLAIM/PATH",
    ),
    "E317": Wording(
        "no loader loads these weights, so there is nothing to cache",
        "leave modelCache out, or load from a hub or a bucket",
    ),
    "E318": Wording(
        "modelCache.perPod makes the volume '{name}' a claim of each pod",
        "leave one of them out",
    ),
    "E319": Wording(
        "modelCache.hostPath is a folder on the node, filled as root, which PodSecurity restricted refuses",
        "write modelCache.pvc or modelCache.perPod, or hardening: default",
    ),
    "E320": Wording(
        "with {modes} the claim cannot be mounted both by the Job that fills it and by pods on other nodes",
        "write ReadWriteMany, with a storage class that has it, or modelCache.perPod",
    ),
    "E321": Wording(
        "a claim cannot have the size '{value}'",
        "write somewhat more than the size of the weights, such as 20Gi",
    ),
    "E360": Wording(
        "in requests {what} would have the same name as {other}: '{name}'",
        "{hint}",
    ),
    "W360": Wording(
        "the rank of the adapter '{name}' is unknown, and {backend} refuses to start with one above {most}",
        "set spec.facts.adapter.rank to r of its adapter_config.json",
    ),
    "E361": Wording("'{name}' is {what}", "{hint}"),
    "E362": Wording(
        "the adapter '{name}' was trained on {base}, and '{main}' is {id}",
        "claim it beside that model; if both are the same, write its whole id, as the hub has it, in "
        "spec.facts.adapter.base and as the modelID",
    ),
    "E363": Wording("the adapter '{name}' has rank {rank}, and {option} is at most {most} here", "{hint}"),
    "E364": Wording(
        "{option} replaces the claimed adapters, which would not be loaded",
        "leave it out, and claim each adapter as an OpenModel with role lora; or load all of them with it, and claim "
        "none",
    ),
    "E365": Wording(
        "{option} {value} holds fewer adapters than the {count} that are claimed",
        "write at least {count}, or leave it out: it follows from the number of adapters",
    ),
    "E366": Wording(
        "'{backend}' cannot load adapters that requests select by name",
        "set backendName: {able}; or merge the adapter into its model, and serve that",
    ),
    "E367": Wording("'{name}' contains '{mark}', and {why}", "{hint}"),
    "E368": Wording(
        "the engine cannot load the adapter '{name}' itself: it takes only the default revision of a Hugging Face "
        "repository, or a folder",
        "drop the annotation llmaz.io/skip-model-loader, or put the adapter on a claim (pvc://)",
    ),
    "E369": Wording("the Playground '{app}' has no {what} '{name}'", "{hint}"),
    "W910": Wording(
        "'{kind}' is none of the tasks of models, so it has no effect: the model is served like one for chat",
        "write kind: {task}",
        replaces=("kind", "task"),
    ),
    "N911": Wording(
        "'{kind}' has no meaning{more}: such a model is served like one for chat",
        "the tasks are {known}",
    ),
    "W912": Wording(
        "{by} that '{model}' is of the task {task}, and it is served like a model for chat",
        "write facts: {{kind: {task}}}, or kind: chat where the name means something else",
    ),
    "N913": Wording(
        "the repository's name says that '{model}' is of the task {task}, not {kind}",
        "write kind: {task}, or leave it where the name means something else",
    ),
    "W919": Wording(
        "{name} names {path}, and nothing is mounted there in {containers}",
        "write pods.caBundle in RenderConfig instead, which engine and loaders get with its file; or mount it there by "
        "podTemplate",
    ),
    "W918": Wording(
        "'{model}' takes about {seconds} s to start, and KEDA takes away a replica that had no request for {cooldown} "
        "s: once clients have given up, the start is ended before it is ready",
        "set autoscaling.keda.cooldown in RenderConfig to {least} or more",
    ),
}
