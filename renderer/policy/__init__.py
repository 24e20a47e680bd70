"""Judges what is rendered by RenderPolicy: each rule is a generator over a finished record, and knows no other.

The rules about objects hold for rendered ones, for those of files that are passed through, and for those that `llmaz
check` reads; the others are about input.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from renderer.api import App, BackendRuntime, ClaimedName, Inputs, OpenModel, RenderPolicy, Scope, TrafficInput
from renderer.check.finding import existing_origin
from renderer.diagnostics import Diagnostic, Origin, Path
from renderer.file_header import LONGEST_LINE, MARK, source_of
from renderer.load.validation import GROUPS
from renderer.plan import Manifest
from renderer.policy import containers
from renderer.policy.admission import admission_run
from renderer.policy.config_keys import judge_config
from renderer.policy.containers import judge_images, judge_privileged, judge_root
from renderer.policy.definitions import at_models, judge_claims, judge_definition
from renderer.policy.denial import Denial, denial_diagnostics
from renderer.policy.globs import path_below, restricts
from renderer.policy.hosts import HOSTS, judge_hosts
from renderer.policy.namespaces import judge_namespace, missing_folders
from renderer.policy.objects import JudgedObject, list_items
from renderer.policy.pass_through import judge_kind, passed_documents
from renderer.policy.pods import judge_persistent_volume, pod_rules
from renderer.policy.public_names import judge_claimed_names, judge_routes
from renderer.source.paths import CONFIG, is_inside
from renderer.yamlio import Document

ObjectRule = Callable[[RenderPolicy, JudgedObject], Iterator[Denial]]
_OBJECT_RULES: Sequence[tuple[tuple[str, ...], ObjectRule]] = (
    (containers.REGISTRIES, judge_images),
    (containers.PRIVILEGED, judge_privileged),
    (containers.ROOT, judge_root),
    (HOSTS, judge_hosts),
    (("weights", "hostPaths"), judge_persistent_volume),
)
_SHARED_WITHOUT_FILE = ("llmaz.io", "OpenModel")  # of the file that defines it, which has a rule of its own


def judge_app(
    scope: Scope, inputs: Inputs, item: App | TrafficInput, manifests: Sequence[Manifest]
) -> list[Diagnostic]:
    """The errors for what the policies deny of an app or traffic and its objects."""
    denied: list[Diagnostic] = []
    for policy in scope.policies:
        path = path_below(policy, scope.tree.base, item.file)
        objects = [JudgedObject(manifest.body, _origin_of(manifest), path) for manifest in manifests]
        denials = list(_namespace_denials(policy, objects))
        denials += _object_denials(policy, objects)
        if isinstance(item, App):
            denials = [*at_models(inputs, item, denials), *judge_claims(policy, inputs, item)]
        denied += denial_diagnostics(policy, denials)
    return list(dict.fromkeys(denied))


def judge_definitions(scope: Scope, definitions: Sequence[OpenModel | BackendRuntime]) -> list[Diagnostic]:
    """The errors for the OpenModels and BackendRuntimes that the policies deny."""
    keys = {file.name: file.key for file in scope.tree.files} if definitions else {}
    denied: list[Diagnostic] = []
    for policy in scope.policies:
        for item in definitions:
            key = keys.get(item.document.name, item.document.name)
            path = path_below(policy, scope.tree.base, key)
            denied += denial_diagnostics(policy, judge_definition(policy, scope.config, item, path))
    return denied


def judge_tree(
    scope: Scope, inputs: Inputs, shared: Iterable[Manifest], names: Callable[[], Sequence[ClaimedName]]
) -> list[Diagnostic]:
    """The errors for what the policies deny of RenderConfig, of public names, of the objects `shared` by apps, and of
    files that are passed through; and notes about the policies. `names`: returns the public names of rendered routes.
    """
    manifests, passed = list(shared), list(passed_documents(scope))
    denied = [problem for file in passed for problem in file.problems]
    own_namespaces = {app.namespace for app in inputs.apps} | {item.namespace for item in inputs.rendered_traffic}
    for policy in scope.policies:
        base = scope.tree.base
        config_path = path_below(policy, base, CONFIG)
        objects = [JudgedObject(manifest.body, _origin_of(manifest), config_path) for manifest in manifests]
        denials = list(judge_config(policy, base, scope.config.document))
        denials += judge_claimed_names(policy, names()) if restricts(policy, ("publicNames",)) else ()
        denials += _object_denials(policy, objects)
        for judged in objects:
            if judged.kind != _SHARED_WITHOUT_FILE and judged.namespace not in own_namespaces:
                denials += judge_namespace(policy, judged)
        for file in passed:
            path = path_below(policy, base, file.key)
            read = [JudgedObject(document.value, _origin_of(document), path) for document in file.objects]
            denials += [denial for judged in read for denial in judge_kind(policy, judged)]
            denials += _foreign_denials(policy, read)
        denied += denial_diagnostics(policy, denials)
        denied += () if policy.revision else missing_folders(policy, base, scope.options.file_system)
    return list(dict.fromkeys(denied))


def passed_manifests(scope: Scope) -> list[Document]:
    """The objects of files that are passed through."""
    return [document for file in passed_documents(scope) for document in file.objects if _is_manifest(document.value)]


def judge_documents(
    policies: Sequence[RenderPolicy], base: str, output: str, documents: Sequence[Document]
) -> list[Diagnostic]:
    """The errors for what the policies deny of manifests below the folder `base` of llmaz.yaml. `output`: the output
    folder, whose rendered files count as the input that their header names.
    """
    keys = {document.name: _input_key(base, output, document) for document in documents}
    manifests = [part for document in documents for part in list_items(document) if _is_manifest(part.value)]
    denied: list[Diagnostic] = []
    for policy in policies:
        objects = []
        for document in manifests:
            key = keys[document.name]
            path = None if key is None else path_below(policy, base, key)
            objects.append(JudgedObject(document.value, _origin_of(document), path))
        denied += denial_diagnostics(policy, _foreign_denials(policy, objects))
    if run := admission_run(policies):
        denied += run.problems + run.judge_documents(manifests)
        denied += run.notes(run.unjudged())
    return list(dict.fromkeys(denied))


def _is_manifest(value: object) -> bool:
    """Whether it is an object that may be applied: our own kinds are input."""
    return isinstance(value, dict) and str(value.get("apiVersion")).partition("/")[0] not in GROUPS


def _origin_of(source: Manifest | Document) -> Callable[[Path], Origin]:
    """Locates fields of an object: each in what made it, or what is nearest above it there."""
    if isinstance(source, Manifest):
        return lambda path: existing_origin(source.origin(path))
    return lambda path: existing_origin(source.origin(*path))


def _input_key(base: str, output: str, document: Document) -> str | None:
    """The input file of a manifest, relative to `base`; None for a rendered file of several inputs."""
    path = os.path.abspath(document.name)
    if is_inside(path, output) and document.data.startswith(MARK.encode()):
        source = source_of(document.data[:LONGEST_LINE])
        return None if source == CONFIG else source
    return os.path.relpath(path, base).replace(os.sep, "/")


def _namespace_denials(policy: RenderPolicy, objects: Sequence[JudgedObject]) -> Iterator[Denial]:
    """What is denied of the namespaces of the objects of one file."""
    if restricts(policy, ("folders",)):
        first = {judged.namespace: judged for judged in reversed(objects)}
        for judged in first.values():
            yield from judge_namespace(policy, judged)


def _foreign_denials(policy: RenderPolicy, objects: Sequence[JudgedObject]) -> Iterator[Denial]:
    """What is denied of objects that are not rendered."""
    for judged in objects:
        yield from judge_namespace(policy, judged)
        if restricts(policy, ("publicNames",)):
            yield from judge_routes(policy, judged)
    yield from _object_denials(policy, objects)


def _object_denials(policy: RenderPolicy, objects: Sequence[JudgedObject]) -> Iterator[Denial]:
    """What is denied of any objects, whatever made them."""
    rules, of_pods = _object_rules(policy), pod_rules(policy)
    for judged in objects:
        for rule in rules:
            yield from rule(policy, judged)
        for pod in judged.pods if of_pods else ():
            for pod_rule in of_pods:
                yield from pod_rule(policy, judged, pod)


@cache
def _object_rules(policy: RenderPolicy) -> tuple[ObjectRule, ...]:
    """The rules about objects that the policy has a key for."""
    return tuple(rule for key, rule in _OBJECT_RULES if restricts(policy, key))
