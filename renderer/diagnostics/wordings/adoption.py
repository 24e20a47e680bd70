"""Adoption: what is said of manifests of others that become OpenModels and Playgrounds."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

ADOPTION: Final[dict[str, Wording]] = {
    "E951": Wording(
        "the containers {names} run an engine each, and a Playground has one",
        "give each a workload of its own, or write a llmaz Service with the templates",
    ),
    "E952": Wording(
        "the command line cannot be taken apart: {why}",
        "write it as command and args, each word an item",
    ),
    "E953": Wording(
        "nobody can tell where the weights come from: {why}",
        "write the OpenModel by hand, or name a repository of the hub, a claim or a folder of the node",
    ),
    "E954": Wording("{what}", "name a new or empty folder: -o DIR", about="a folder for adopted files: {what}"),
    "E955": Wording("'{what}' is a template that nobody has filled in", "adopt what the template becomes"),
    "E956": Wording(
        "no workload that runs a known engine is here",
        "name manifests of one, or what kubectl get -o yaml prints of it; known engines are in docs/presets.md",
    ),
    "E957": Wording(
        "{what} cannot be '{value}'", "write a name of lower-case letters, digits, '-' and '.', such as chat"
    ),
    "E958": Wording("what it would become is not valid: {what}", "mend it here, or write that object by hand"),
    "E959": Wording("another {what} is called '{name}' too", "adopt them one by one, or rename one of them"),
    "W951": Wording("{what} is lost: {why}", "mend what needs it before the move"),
    "W952": Wording(
        "the hub's token is in {name} here, and in {other} elsewhere: RenderConfig has one",
        "put both into one Secret, or leave the variables of this Playground, which its loader gets too",
    ),
    "W954": Wording(
        "the Service '{name}' asks port {target}, which the pods of '{app}' have no more",
        "write targetPort: {ours} in its copy",
    ),
    "W955": Wording(
        "the Service '{name}' selects pods by {labels}, which the pods of '{app}' do not have any more",
        "write labels of your own into its selector, and into podTemplate.metadata.labels",
    ),
    "W956": Wording(
        "what the Secret '{name}' holds reaches the engine alone: a hub's token in it does not reach the loader",
        "say secrets.hub in llmaz.yaml, where the model asks for a token",
    ),
    "W957": Wording(
        "'{name}' holds a secret in plain text, and is not copied",
        "put what is secret into a Secret, and copy the rest",
    ),
    "E960": Wording("{what}", "{hint}", about="an object of a group of llmaz's with a kind that it does not have"),
    "W960": Wording("'{field}' is left out: {reason}"),
    "N960": Wording(
        "which version of {backend} ran is not written here: the operator's own preset ran {tags}",
        "write backendRuntimeConfig.version, as the running pods have it; without it the preset's own runs",
    ),
    "E961": Wording(
        "'{old}' and '{new}' of line {line}, column {column} contradict each other: one took the place of the other",
        "leave one of them out",
    ),
    "N961": Wording("'{field}' is left out: {reason}"),
    "E962": Wording("this must be {form}, not {value}"),
    "N962": Wording(
        "this is the operator's own preset of {name}: in the tree it takes the place of the one that ships here",
        "leave it out to run ours, and write version {version} in the Playgrounds that shall keep it",
    ),
    "E963": Wording(
        "{what}",
        "{hint}",
        about="what an older shape does not say and today's API needs, or what it alone can say: {what}",
    ),
    "E965": Wording("{what} cannot be adopted: {why}", "{hint}"),
    "W965": Wording("'{word}' is not known here, and is lost", "{hint}"),
    "W966": Wording("this is lost: {why}"),
    "W967": Wording(
        "{what} stands here as plain text, and is not taken over",
        "put it into a Secret, and write valueFrom.secretKeyRef",
    ),
    "W968": Wording(
        "'{expression}' is left as it is: it is not a simple reference to a field that has a value",
        "write what it stands for",
    ),
    "W969": Wording("no {kind} among these files is called '{name}': what it says is lost", "{hint}"),
    "N965": Wording("{source} also gives its pods what nobody wrote here, and what ours have in their own way: {adds}"),
    "N966": Wording("{why}, so nothing is made of it"),
    "N967": Wording(
        "the claim {claim} is used on, which the chart deletes with its release",
        "annotate it with helm.sh/resource-policy: keep before the release goes",
    ),
}
