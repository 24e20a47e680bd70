"""Wordings about what is delivered and how: target versions, charts, kustomize, environments, Argo CD and Flux, git."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

DELIVERY: Final[dict[str, Wording]] = {
    "E700": Wording(
        "{what} needs {name} {needed}, but the target is {said}",
        "if the cluster has that version, set targets.{target} in RenderConfig; otherwise remove what needs it",
    ),
    "W700": Wording(
        "{what} needs the feature gate {gate}, which is off by default up to Kubernetes {newest}",
        "without it the API server drops or refuses this: leave it out, or turn the gate on",
    ),
    "E701": Wording(
        "{name} {value} is older than {oldest}, the oldest that this llmaz knows", "write {oldest} or above"
    ),
    "E702": Wording(
        "{name} {value} is newer than {newest}, the newest that this llmaz knows",
        "write {newest}: a target is the oldest version that the manifests have to run on",
        replaces=("", "newest"),
    ),
    "E703": Wording("LeaderWorkerSet 0.11 refuses {what}", "{hint}"),
    "E704": Wording(
        "the prices of this environment are in {second}, those of another one in {first}, so they cannot be summed",
        "write one currency in spec.fleet of RenderConfig, or ask for one environment with --env NAME",
    ),
    "E706": Wording(
        "the rows cannot lead to their input: {what}",
        "write where a line of a file of your repository can be read: {form}",
    ),
    "W703": Wording(
        "{name} {value} works with {other} {needed} and newer, but the target is {said}",
        "set targets.{target} to {needed} or above where the clusters have it, or targets.{key} to an older version",
    ),
    "N705": Wording(
        "what {backend} {version} takes is known by its own help alone: what that leaves out {teller}, and its "
        "defaults are not known"
    ),
    "E711": Wording("'{word}' is not a version of {backend}", "write ENGINE=VERSION, such as {backend}={example}"),
    "W712": Wording(
        "the options of {backend} {version} are not known: {judged}",
        "name {newest}, the newest known version, or look for a newer llmaz",
    ),
    "E713": Wording(
        "this runs {backend} {version}, which is newer than {target}",
        "name {version} or a newer version, or PATHS without it: an older version is written by hand",
    ),
    "E714": Wording("nothing here runs {backend}", "{hint}"),
    "E715": Wording(
        "this file has changes that are not committed",
        "commit them first, so that the upgrade can be told from them; or add --force",
    ),
    "E720": Wording(
        "git has no remote 'origin', so the repository that the cluster reads is unknown", "write --repo-url URL"
    ),
    "E721": Wording("'{value}' is not a valid name", "write {what}"),
    "E722": Wording("'{path}' is not in the repository", "write the folder relative to the repository's top"),
    "E723": Wording("{value} {what}", "{hint}"),
    "W727": Wording(
        "the {kind} '{name}' takes {output}/ with the folders of all environments ({names}): one cluster gets them all",
        "write path: {first}, and an object for each other environment: llmaz {command} prints them",
    ),
    "W730": Wording(
        "Argo CD takes only the files in {path}/ itself, and none of the folders below, such as {file}",
        "write directory: {{recurse: true}} beside path",
    ),
    "W731": Wording(
        "the {kind} '{name}' brings input of llmaz to the cluster, such as {file}, of which a cluster makes nothing "
        "without llmaz's operator",
        "write path: {output}, where llmaz renders to",
    ),
    "W732": Wording(
        "the {kind} '{name}' syncs {path}, which is not there: {parent}/ has {known}",
        "write path: {hint}",
    ),
    "W733": Wording(
        "{field} moves the objects of {moved} to '{space}', such as {what}, which others look for where they were",
        "leave it out: each rendered object says its namespace",
    ),
    "W734": Wording(
        "{field} makes '{renamed}' of '{first}', and leaves host names, selectors and references of custom resources "
        "as they are",
        "leave it out, and give the input other names",
    ),
    "E724": Wording(
        "'{value}' would be the same for {names}, which would overwrite each other",
        "write {{env}} for the environment's name, or print one with --env NAME",
    ),
    "E725": Wording("the name '{name}' would be used for {owners}", "rename one of them, or print one with --env NAME"),
    "E726": Wording("the call from Argo CD is not valid: {what}", "fix the Application's source.plugin"),
    "E727": Wording(
        "nothing was rendered, so Argo CD would delete everything that is there",
        "fix the Application's path; to delete everything, delete the Application",
    ),
    "E730": Wording(
        "expected a ResourceList of config.kubernetes.io/v1, found {what}", "let kustomize run this command"
    ),
    "E731": Wording(
        "the ResourceList has no functionConfig",
        "give kustomize a RenderConfig, under generators or transformers of the kustomization",
    ),
    "E732": Wording(
        "expected a RenderConfig of renderer.llmaz.io/v1alpha1 as functionConfig, found {what}",
        "name a file that holds one, under generators or transformers of the kustomization",
    ),
    "E733": Wording("'{value}' {what}", "write paths relative to the folder of the kustomization"),
    "E734": Wording(
        "this is a second RenderConfig", "keep the functionConfig, which kustomize passes; ignore skips files"
    ),
    "E735": Wording(
        "{what} is among the items, but a generator reads files",
        "list the RenderConfig under generators instead of transformers, or leave spec.paths out",
    ),
    "E736": Wording("this is rendered here, and is already among the items", "remove or rename one of the two"),
    "E737": Wording(
        "nothing was rendered: no Playground, Service, ModelRoute or InferenceModel {where}",
        "fix spec.paths, or what the kustomization lists",
    ),
    "E738": Wording(
        "{key} is about files, but a transformer gets objects", "leave it out: other objects are passed on anyway"
    ),
    "E739": Wording(
        "an earlier function has already rendered: the object Rendered llmaz is among the items",
        "delete it with a patch after that function, or keep only one RenderConfig",
    ),
    "E740": Wording(
        "PATHS are only a part of the input, and the chart would lack files that depend on all of it: {files}",
        "run it without PATHS",
    ),
    "E741": Wording(
        "holds a chart of other input too: {file} was rendered from {source}, which is outside PATHS",
        "run it without PATHS, or name another folder with -o",
    ),
    "E742": Wording("holds plain manifests of llmaz, such as {file}", "name another folder with -o"),
    "E743": Wording("{folder}/ holds the chart that llmaz render --to helm writes", "name another folder with -o"),
    "E744": Wording(
        "cannot compare with this renderer: {what}", "name a wheel of llmaz-renderer, or a version of it such as 0.1.0"
    ),
    "E745": Wording(
        "no virtual environment can be made for it: {what}",
        "install Python's venv and ensurepip, such as the package python3-venv of Debian, or set TMPDIR to a folder "
        "where Python can make one",
    ),
    "E746": Wording("pip cannot install it: {what}", "{hint}"),
    "E747": Wording("{name} says: {what}", "{hint}"),
    "E748": Wording(
        "{name} rendered nothing: {what}",
        "check whether it runs on its own: llmaz render, in an environment where it is installed",
    ),
    "E750": Wording("there is no environment '{name}'", "{hint}"),
    "W750": Wording("there is no '{key}' to delete", "leave it out, or fix the name"),
    "E751": Wording("there is no environment '{name}' to start from", "{hint}"),
    "E752": Wording("{what}", "{hint}", about="the environment cannot start from the other one: {what}"),
    "E753": Wording("no {kind} is named '{name}'", "{hint}"),
    "E754": Wording("'{name}' is ambiguous: {names}", "write one of them, as {first}"),
    "E755": Wording("'{name}' is the {kind} that '{other}' already patches", "keep one of them"),
    "E756": Wording("{what} needs one environment, and there are {names}", "name one, as --env {first}"),
    "E757": Wording("{key} applies to all environments", "write it below spec, not in an environment"),
    "E758": Wording("--set cannot change environments", "write it into llmaz.yaml, or set a key outside environments"),
    "E760": Wording(
        "already exists{others}",
        "llmaz init overwrites nothing: name a folder that is not below this one, or move {them} away; --ci none "
        "writes no workflow",
    ),
    "E761": Wording("'{value}' is not a valid branch name", "write it in letters, digits, '.', '_', '-' and '/'"),
    "E762": Wording(
        "'{value}' is an artifact, but the cluster has to read a git repository",
        "write --repo-url https://host/path, or ssh://git@host/path",
    ),
    "E763": Wording("'{value}' is not a cluster", "write https://host:port, or the cluster's name in Argo CD"),
    "E764": Wording("'{value}' is not an action", "write NAME/REPOSITORY@REF, with a commit for REF"),
    "E765": Wording("the folder '{value}' cannot be named in a workflow", "rename it, or write --ci none"),
    "E766": Wording(
        "is in the folder of {config}, where all input is rendered with it",
        "name a folder beside it, or add a Playground there instead",
    ),
    "E770": Wording(
        "this is not an OBJECT[.FIELD]",
        "write KIND/NAMESPACE/NAME, KIND/NAME, NAME or a rendered file, such as lws/llm/chat or lws/chat.spec.replicas",
    ),
    "E771": Wording("llmaz renders no kind '{kind}'", "{hint}"),
    "E772": Wording("'{field}' is not a field path", "write it as spec.containers[0].args[3], or containers[NAME]"),
    "E773": Wording("there is no field '{field}' in {here}", "{hint}"),
    "E774": Wording("there is no item '{item}' in {here}", "{hint}"),
    "E775": Wording("{here} is {value!r}, so it has no '{field}'", "leave out what follows it"),
    "E776": Wording("this is ambiguous, with {count} matches: {known}", "name one of them"),
    "E777": Wording("no rendered object is called '{what}'", "{hint}"),
    "E780": Wording("git did not run: {what}", "install git, or name two folders"),
    "E781": Wording("git says: {what}", "run llmaz in a git repository, and name a commit, branch or tag of it"),
    "E782": Wording("git does not know the commit '{name}'", "{hint}"),
    "E783": Wording("'{one}' and '{other}' have no commit in common", "fetch more, as with fetch-depth: 0"),
    "E784": Wording(
        "this is a partial clone, and objects are missing: {what}",
        "fetch all of it: git fetch --refetch --no-filter; with actions/checkout leave filter out",
    ),
    "E785": Wording("this is too large to read: {what}", "check it out, and compare what llmaz render writes"),
    "E786": Wording("this is in the repository {other}, not in {top}", "run llmaz diff in {other}"),
    "E787": Wording(
        "git does not trust the repository: {what}", "run git config --global --add safe.directory with that folder"
    ),
    "N788": Wording("whether submodules lie here is not known: {what}", varies=True),
}
