"""Adoption: what is said of manifests of others that become OpenModels and Playgrounds."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

ADOPTION: Final[dict[str, Wording]] = {
    "E950": Wording("this is not possible as --as says: {why}", "leave --as out"),
    "N950": Wording(
        "{what} uses HTTPS, and HTTP in the new pods: {source} gives the engine its certificate, llmaz does not",
        "for HTTPS inside of the cluster, mount one by podTemplate and write {options} into backendRuntimeConfig.args",
    ),
    "E951": Wording(
        "the containers {names} each run an engine, but a Playground has only one",
        "give each its own workload, or write a llmaz Service with the templates",
    ),
    "E952": Wording(
        "the command line cannot be read: {why}",
        "write it as command and args, one item for each word",
    ),
    "N952": Wording(
        "{kind} '{name}' selects pods by {labels}, and so none of '{app}'",
        "apply a copy of it with {new} before the new pods start",
        by_kind=True,
    ),
    "E953": Wording(
        "the source of the weights is unknown: {why}",
        "{hint}",
    ),
    "N953": Wording(
        "{kind} '{name}' names port {port}, which is called {ours} in the pods of '{app}'",
        "write {ours} in its copy, or the number",
        by_kind=True,
    ),
    "W953": Wording(
        "{owner} makes the Service '{service}': it leads to the old pods alone, and goes away with {owner}",
        "let its clients ask {own}, or a Service of your own, before you delete {owner}",
    ),
    "E954": Wording("{what}", "name a new or empty folder: -o DIR", about="a folder for adopted files: {what}"),
    "N954": Wording("the new pods use {kind} '{name}', which is not copied", "{hint}", by_kind=True),
    "E955": Wording("'{what}' is a template that is not filled in", "adopt the rendered template"),
    "N956": Wording(
        "{what} does one part of each request: whatever pairs these pods with others has to know the new ones too",
        "move both parts in one step, or write one Playground with disaggregation: docs/disaggregation.md",
    ),
    "E956": Wording(
        "{what}",
        "{hint}",
        about="nothing can be adopted: there is a kind that is not read, values of a chart, an image of somebody else, "
        "or no workload at all: {what}",
    ),
    "N957": Wording(
        "no limit names an accelerator, but {giver} may give one: {backend} gets its image for accelerators, {image}",
        "does it run on CPUs? Delete that image in podTemplate. Which accelerators are they? Name them in the flavor",
    ),
    "E957": Wording("{what} cannot be '{value}'", "write at most 63 lower-case letters, digits and '-', such as chat"),
    "E958": Wording("the result would not be valid: {what}", "fix it here, or write that object by hand"),
    "E959": Wording("another {what} is also called '{name}'", "adopt them one by one, or rename one of them"),
    "N951": Wording(
        "the key of {what} is here in plain text, and is not copied: the new pods take it from the Secret '{name}', "
        "without which they do not start",
        "make it first: {command}",
    ),
    "W951": Wording("{what} is lost: {why}", "before the move, fix what needs it"),
    "N955": Wording(
        "{why}, so its command line stays as it is{more}",
        "{hint}",
    ),
    "W952": Wording(
        "the hub's token is in {name} here, and in {other} elsewhere: RenderConfig has only one",
        "put both into one Secret, or keep the variables of this Playground, which its loader gets too",
    ),
    "W954": Wording(
        "the Service '{name}' targets port {target}, which the pods of '{app}' no longer have",
        "write targetPort: {ours} in its copy",
    ),
    "W955": Wording(
        "the Service '{name}' selects pods by {labels}, which the pods of '{app}' no longer have",
        "write your own labels into its selector, and into podTemplate.metadata.labels",
    ),
    "W956": Wording(
        "only the engine gets the keys of the Secret '{name}': a hub token in it does not reach the loader",
        "set secrets.hub in llmaz.yaml if the model needs a token",
    ),
    "W957": Wording(
        "'{name}' holds a secret in plain text, and is not copied",
        "move the secret values into a Secret, and copy the rest",
    ),
    "E960": Wording(
        "{what}", "{hint}", about="an object of an API group of llmaz, with a kind that the group does not have"
    ),
    "W960": Wording("'{field}' is left out: {reason}"),
    "N960": Wording(
        "the version of {backend} that ran is not set here: the operator's own preset ran {tags}",
        "set backendRuntimeConfig.version as in the running pods; without it the preset's own version runs",
    ),
    "E961": Wording(
        "'{old}' and '{new}' of line {line}, column {column} contradict each other: one replaced the other",
        "leave one of them out",
    ),
    "N961": Wording("'{field}' is left out: {reason}"),
    "E962": Wording("this must be {form}, not {value}"),
    "N962": Wording(
        "this is the operator's own preset of {name}: in the tree it replaces the preset that ships with llmaz",
        "leave it out to run ours, and set version {version} in the Playgrounds that have to keep it",
    ),
    "E963": Wording(
        "{what}",
        "{hint}",
        about="today's API needs what the older API does not have, or cannot express what the older one has: {what}",
    ),
    "E965": Wording("{what} cannot be adopted: {why}", "{hint}"),
    "W964": Wording(
        "what this kustomization changes in {workload} by {fields} is lost: it is read as it stands in its file",
        "adopt what is built: kustomize build {folder} | llmaz adopt -",
    ),
    "N964": Wording(
        "left as it is: {what}",
        "{hint}",
        about="what serves a model beside adopted workloads is not adopted: {what}",
    ),
    "W965": Wording("'{word}' is not known here, and is lost", "{hint}"),
    "W966": Wording("this is lost: {why}"),
    "W967": Wording("{what} is here in plain text, and is not copied", "{hint}"),
    "W968": Wording(
        "'{expression}' is left as it is: it is not a simple reference to a field that has a value",
        "write its value instead",
    ),
    "W969": Wording("no {kind} in these files is called '{name}': its settings are lost", "{hint}"),
    "N965": Wording("{source} adds more to its pods than is written here, which ours have in their own way: {adds}"),
    "N966": Wording("{why}, so this is not adopted"),
    "N967": Wording(
        "the claim {claim} is still used, but the chart deletes it with its release",
        "annotate it with helm.sh/resource-policy: keep before you delete the release",
    ),
}
