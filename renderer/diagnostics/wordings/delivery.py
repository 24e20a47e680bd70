"""Wordings about what is delivered and how: target versions, charts, kustomize, environments, Argo CD and Flux, git."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

DELIVERY: Final[dict[str, Wording]] = {
    "E700": Wording(
        "{what} needs {name} {needed}, the target is {said}",
        "leave it out; if the cluster has it, say so in RenderConfig under targets.{target}",
    ),
    "W700": Wording(
        "{what} needs the feature gate {gate}, which is off by default up to Kubernetes {newest}",
        "without it the API server drops or refuses this: leave it out, or turn the gate on",
    ),
    "E701": Wording("{name} {value} is older than {oldest}, the oldest that this llmaz knows", "say {oldest} or above"),
    "E702": Wording(
        "{name} {value} is newer than {newest}, the newest that this llmaz knows",
        "say {newest}: a target is the oldest version that the manifests have to run on",
    ),
    "E703": Wording("LeaderWorkerSet 0.11 refuses {what}", "{hint}"),
    "W703": Wording(
        "{name} {value} works with {other} {needed} and newer, and the target is {said}",
        "set targets.{target} to {needed} or above where the clusters have it, or targets.{key} to an older version",
    ),
    "E720": Wording("git knows no remote 'origin', so nobody knows where the cluster reads", "write --repo-url URL"),
    "E721": Wording("'{value}' is not a name", "write {what}"),
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
    "E744": Wording(
        "cannot compare with this renderer: {what}", "name a wheel of llmaz-renderer, or a version of it such as 0.1.0"
    ),
    "E745": Wording(
        "no virtual environment can be made for it: {what}",
        "install Python's venv and ensurepip, such as the package python3-venv of Debian",
    ),
    "E746": Wording("pip cannot install it: {what}", "{hint}"),
    "E747": Wording("{name} says: {what}", "{hint}"),
    "E748": Wording(
        "{name} rendered nothing: {what}", "see whether it runs by itself: llmaz render, in an environment that has it"
    ),
    "E750": Wording("there is no environment '{name}'", "{hint}"),
    "W750": Wording("there is no '{key}' to delete", "leave it out, or mend the name"),
    "E751": Wording("there is no environment '{name}' to begin with", "{hint}"),
    "E752": Wording("{what}", "{hint}", about="the environment cannot begin with the other one: {what}"),
    "E753": Wording("no {kind} is named '{name}'", "{hint}"),
    "E754": Wording("'{name}' is the name of several: {names}", "write one of them, as {first}"),
    "E755": Wording("'{name}' is the {kind} that '{other}' patches already", "keep one of them"),
    "E756": Wording("{what} is about one environment, and there are {names}", "name one, as --env {first}"),
    "E757": Wording("{key} holds in every environment", "write it below spec, not in an environment"),
    "E758": Wording("--set cannot change environments", "write it into llmaz.yaml, or leave environments out of it"),
    "E760": Wording(
        "is there already{others}",
        "llmaz init overwrites nothing: name another folder, or move {them} away; a workflow stays with --ci none",
    ),
    "E761": Wording("'{value}' is not a name of a branch", "write it in letters, digits, '.', '_', '-' and '/'"),
    "E762": Wording(
        "'{value}' is an artifact, and the cluster is to read a git repository",
        "write --repo-url https://host/path, or ssh://git@host/path",
    ),
    "E763": Wording(
        "'{value}' is not a cluster", "write https://host:port, or the name by which Argo CD knows the cluster"
    ),
    "E764": Wording("'{value}' names no action", "write OWNER/REPOSITORY@REF, with a commit for REF"),
    "E765": Wording("the folder '{value}' cannot be named in a workflow", "rename it, or write --ci none"),
    "E766": Wording(
        "lies below {config}, and whatever lies there is rendered by it",
        "name a folder beside it, or add a Playground there instead",
    ),
    "E770": Wording(
        "this is not an OBJECT[.FIELD]",
        "write KIND/NAMESPACE/NAME, KIND/NAME, NAME or a rendered file, such as lws/llm/chat or lws/chat.spec.replicas",
    ),
    "E771": Wording("no kind that is rendered is called '{kind}'", "{hint}"),
    "E772": Wording(
        "'{field}' is not a path of a field", "write it as spec.containers[0].args[3], or containers[NAME]"
    ),
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
}
