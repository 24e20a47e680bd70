"""What the policies of a run deny of an app, of definitions, of the tree, and of manifests.

The rules about objects hold for rendered ones, for those of files that are passed through, and for those that `llmaz
check` reads; the others are about input.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from renderer.api import App, BackendRuntime, ClaimedName, Inputs, OpenModel, RenderPolicy, Scope, TrafficInput
from renderer.check import ExternalObjects
from renderer.diagnostics import Diagnostic
from renderer.kubernetes.workloads import kind_of
from renderer.load.validation import GROUPS
from renderer.output.file_header import LONGEST_LINE, MARK, source_of
from renderer.plan import Body, Manifest
from renderer.policy.config_keys import judge_config
from renderer.policy.definitions import at_models, judge_claims, judge_definition
from renderer.policy.denial import Denial, denial_diagnostics
from renderer.policy.globs import path_below, restricts
from renderer.policy.hosts import HOSTS, judge_referenced_hosts
from renderer.policy.known_objects import KnownObjects
from renderer.policy.namespaces import judge_namespace, missing_folders
from renderer.policy.objects import Definitions, judged_object, namespace_of
from renderer.policy.pass_through import PassedFile, judge_kind, passed_documents
from renderer.policy.public_names import judge_claimed_names, judge_routes
from renderer.policy.rival_routes import judge_rivals
from renderer.policy.rules import judge_objects
from renderer.policy.unseen_kinds import definitions_of, tree_definitions, unseen_kinds
from renderer.source.paths import CONFIG, is_inside
from renderer.yamlio import Document

_MODEL = ("llmaz.io", "OpenModel")  # of the file that defines it, which has a rule of its own
_NAMES = ("publicNames",)
_ITEM = "items["  # how a field of an object in a list begins


def judge_app(
    scope: Scope, inputs: Inputs, item: App | TrafficInput, manifests: Sequence[Manifest]
) -> list[Diagnostic]:
    """The errors for what the policies deny of an app or traffic and its objects."""
    parts = []
    for policy in scope.policies:
        path = path_below(policy, scope.tree.base, item.file)
        denials: Iterable[Denial] = judge_objects(policy, manifests, path)
        if isinstance(item, App):
            denials = chain(at_models(inputs, item, denials), judge_claims(policy, inputs, item))
        parts.append([*denial_diagnostics(policy, denials)])
    return merge_denials(parts)


def judge_definitions(scope: Scope, definitions: Sequence[OpenModel | BackendRuntime]) -> list[Diagnostic]:
    """The errors for the OpenModels and BackendRuntimes that the policies deny."""
    parts = []
    for policy in scope.policies:
        denials: list[Denial] = []
        for item in definitions:
            path = path_below(policy, scope.tree.base, item.file)
            denials += judge_definition(policy, scope.config, item, path)
        parts.append([*denial_diagnostics(policy, denials)])
    return merge_denials(parts)


def judge_tree(
    scope: Scope,
    inputs: Inputs,
    shared: Iterable[Manifest],
    names: Callable[[], Sequence[ClaimedName]],
    external: ExternalObjects,
) -> list[Diagnostic]:
    """The errors for what the policies deny of RenderConfig, of public names, of the objects `shared` by apps, and of
    files that are passed through; and notes about the policies. `names`: returns the public names of rendered routes;
    `external`: what rendered objects may refer to.
    """
    manifests, passed, base = list(shared), list(passed_documents(scope)), scope.tree.base
    known = _known_objects(inputs, manifests, passed, names, external)
    problems = [problem for file in passed for problem in file.problems]
    objects = [document for file in passed for document in file.objects]
    definitions = tree_definitions(scope, objects)
    parts = []
    for policy in scope.policies:
        denials = list(judge_config(policy, base, scope.config.document))
        denials += judge_claimed_names(policy, names()) if restricts(policy, _NAMES) else ()
        denials += _judge_shared(policy, base, inputs, manifests)
        for file in passed:
            denials += _judge_passed(policy, base, file, definitions, known)
        parts.append([*denial_diagnostics(policy, denials)])
        problems += () if policy.revision else missing_folders(policy, base, scope.options.file_system)
    merged = merge_denials(parts)
    return [*problems, *merged, *unseen_kinds(scope.policies, objects, definitions)]


def passed_manifests(scope: Scope) -> list[Document]:
    """The objects of files that are passed through."""
    return [document for file in passed_documents(scope) for document in file.objects if _is_manifest(document.value)]


def judge_documents(
    policies: Sequence[RenderPolicy], base: str, output: str, clusters: Sequence[Sequence[Document]]
) -> list[Diagnostic]:
    """The errors for what the policies deny of manifests below the folder `base` of llmaz.yaml. `output`: the output
    folder, whose rendered files count as the input that their header names; `clusters`: the manifests of each cluster,
    some perhaps of several.
    """
    by_cluster = [_by_file(documents) for documents in clusters]
    by_file = {name: documents for files in by_cluster for name, documents in files.items()}
    objects = [document for read in by_file.values() for document in read]
    definitions = definitions_of(objects)
    parts = []
    for policy in policies:
        denials: list[Denial] = []
        for read in by_file.values():
            denials += _judge_foreign(policy, read, _path_of(policy, base, output, read[0]), definitions)
        for files in by_cluster:
            known = KnownObjects(partial(_bodies, [*chain.from_iterable(files.values())]))
            for read in files.values():
                denials += _judge_detours(policy, read, _path_of(policy, base, output, read[0]), known)
        parts.append([*denial_diagnostics(policy, denials)])
    judged = merge_denials(parts) + _judged_by_admission(policies, by_file.values())
    return [*judged, *unseen_kinds(policies, objects, definitions)]


def _by_file(documents: Iterable[Document]) -> dict[str, list[Document]]:
    """The objects among documents, by their file."""
    by_file: dict[str, list[Document]] = {}
    for document in documents:
        if _is_manifest(document.value):
            by_file.setdefault(document.name, []).append(document)
    return by_file


def _path_of(policy: RenderPolicy, base: str, output: str, document: Document) -> str | None:
    """The path of the input of a manifest, as the policy's globs are about it; None where it has no single one."""
    key = _input_key(base, output, document)
    return None if key is None else path_below(policy, base, key)


def _judged_by_admission(policies: Sequence[RenderPolicy], files: Iterable[Sequence[Document]]) -> list[Diagnostic]:
    """What the ValidatingAdmissionPolicies that the policies name say of manifests."""
    if not any(policy.get("admission") for policy in policies):
        return []
    from renderer.policy.admission import AdmissionRun  # few runs need it

    run = AdmissionRun(policies)
    denied = run.judge_documents(document for documents in files for document in documents)
    return [*run.problems, *denied, *run.notes(run.unjudged())]


def _judge_shared(policy: RenderPolicy, base: str, inputs: Inputs, manifests: Sequence[Manifest]) -> Iterator[Denial]:
    """What is denied of objects that apps share. Those in namespaces of apps are there for these apps, which are judged
    themselves; the others RenderConfig alone asks for.
    """
    path = path_below(policy, base, CONFIG)
    namespaces = {app.namespace for app in inputs.apps} | {item.namespace for item in inputs.rendered_traffic}
    yield from judge_objects(policy, manifests, path, namespaces=False)
    for manifest in manifests:
        if kind_of(manifest.body) != _MODEL and namespace_of(manifest.body) not in namespaces:
            yield from judge_namespace(policy, judged_object(manifest, path))


def _known_objects(
    inputs: Inputs,
    manifests: Sequence[Manifest],
    passed: Sequence[PassedFile],
    names: Callable[[], Sequence[ClaimedName]],
    external: ExternalObjects,
) -> KnownObjects:
    """The objects of a tree, as rules about files that are passed through look into them."""

    def judged() -> Iterator[Body]:
        yield from (manifest.body for manifest in manifests)
        yield from _bodies(document for file in passed for document in file.objects)

    def others() -> Iterator[Body]:
        keys = {file.key for file in passed}
        yield from _bodies(item.document for item in inputs.foreign_documents if item.file.key not in keys)

    return KnownObjects(judged, others, names, external)


def _bodies(documents: Iterable[Document]) -> Iterator[Body]:
    """The objects of documents."""
    return (document.value for document in documents if isinstance(document.value, dict))


def _judge_passed(
    policy: RenderPolicy, base: str, file: PassedFile, definitions: Definitions, known: KnownObjects
) -> Iterator[Denial]:
    """What is denied of a file that is passed through."""
    path = path_below(policy, base, file.key)
    for document in file.objects:
        yield from judge_kind(policy, judged_object(document, path))
    objects = [item for item in file.objects if isinstance(item.value, dict)]
    yield from _judge_foreign(policy, objects, path, definitions)
    yield from _judge_detours(policy, objects, path, known)


def _judge_foreign(
    policy: RenderPolicy, documents: Sequence[Document], path: str | None, definitions: Definitions
) -> Iterator[Denial]:
    """What is denied of objects that are not rendered."""
    yield from judge_objects(policy, documents, path, definitions)
    for document in documents if restricts(policy, _NAMES) else ():
        yield from judge_routes(policy, judged_object(document, path))


def _judge_detours(
    policy: RenderPolicy, documents: Sequence[Document], path: str | None, known: KnownObjects
) -> Iterator[Denial]:
    """What is denied of objects that are not rendered for what they do together with others."""
    candidates = ((_NAMES, judge_rivals), (HOSTS, judge_referenced_hosts))
    rules = [rule for key, rule in candidates if restricts(policy, key)]
    for document in documents if rules else ():
        judged = judged_object(document, path)
        yield from chain.from_iterable(rule(policy, judged, known) for rule in rules)


def merge_denials(parts: Iterable[Iterable[Diagnostic]]) -> list[Diagnostic]:
    """What several policies deny, each a part, those about one field for one reason only of the first."""
    merged: list[Diagnostic] = []
    known: set[tuple[str, str, str]] = set()
    for part in parts:
        errors: dict[tuple[object, ...], Diagnostic] = {}
        for error in part:
            if (reason := _reason(error)) not in known:
                errors.setdefault((reason, error.message), error)
        merged += errors.values()
        known.update(map(_reason, errors.values()))
    return merged


def _reason(error: Diagnostic) -> tuple[str, str, str]:
    """What an error is about, whether it is of an object in a list or of the list as an object."""
    field = error.field
    while field.startswith(_ITEM):
        field = field.partition("].")[2]
    return error.place, error.code, field


def _is_manifest(value: object) -> bool:
    """Whether it is an object that may be applied: our own kinds are input."""
    return isinstance(value, dict) and str(value.get("apiVersion")).partition("/")[0] not in GROUPS


def _input_key(base: str, output: str, document: Document) -> str | None:
    """The input file of a manifest, relative to `base`; None for a rendered file of several inputs."""
    path = os.path.abspath(document.name)
    if is_inside(path, output) and document.data.startswith(MARK.encode()):
        source = source_of(document.data[:LONGEST_LINE])
        return None if source == CONFIG else source
    return os.path.relpath(path, base).replace(os.sep, "/")
