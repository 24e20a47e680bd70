"""The files that `admission` of a RenderPolicy names, and what their policies ask of the tree: namespaces, params."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence, Set

from renderer import yamlio
from renderer.api import AdmissionDocuments, RenderPolicy
from renderer.diagnostics import Diagnostic, make_diagnostic, read_error
from renderer.kubernetes.json_values import as_texts, map_at, maps_at, text_at
from renderer.output.file_header import MARK
from renderer.source.tree import FileSystem, ReadableFile, glob
from renderer.yamlio import Document

_KEY = "admission"
_RULES = ("resourceRules", "excludeResourceRules")
_OF_NAMESPACES = (b"namespaceObject", b"namespaceSelector")  # what asks for Namespaces


def admission_documents(policy: RenderPolicy, file_system: FileSystem, base: str) -> AdmissionDocuments:
    """The documents of the files below the folder `base` that the policy names, and the facts for them."""
    globs = policy.get(_KEY) or ()
    if not globs:
        return AdmissionDocuments()
    files = file_system.folder(base, (base,), (), None).files
    documents: list[Document] = []
    problems: list[Diagnostic] = []
    read: set[str] = set()
    for i, text in enumerate(globs):
        expression = glob(text)
        fitting = [file for file in files if expression.fullmatch(file.key)]
        if not fitting:
            problems.append(make_diagnostic("E845", policy.origin(_KEY, i), glob=text))
        for file in fitting:
            if file.key not in read:
                read.add(file.key)
                parsed, faults = _parse(file)
                documents += (part for document in parsed for part in document.objects)
                problems += faults
    kinds = {text_at(item.value, "spec", "paramKind", "kind") for item in documents} - {""}
    if any(word in document.data for document in documents for word in _OF_NAMESPACES):
        kinds.add("Namespace")
    if any(map(_names_custom_resources, documents)):
        kinds.add("CustomResourceDefinition")
    facts = tuple(_facts(files, read, kinds)) if kinds else ()
    return AdmissionDocuments(tuple(documents), facts, tuple(problems))


def _names_custom_resources(document: Document) -> bool:
    """Whether a policy or a binding has a rule for resources that a CustomResourceDefinition may define."""
    matches = (map_at(document.value, "spec", field) for field in ("matchConstraints", "matchResources"))
    rules = [rule for match in matches for field in _RULES for rule in maps_at(match, field)]
    return any(
        as_texts(rule.get("resources")) != ["*"] and any("." in group or group == "*" for group in groups)
        for rule in rules
        if (groups := as_texts(rule.get("apiGroups")))
    )


def _parse(file: ReadableFile) -> tuple[list[Document], Sequence[Diagnostic]]:
    try:
        data = file.read()
    except OSError as error:
        return [], [read_error(file.name, error)]
    return yamlio.parse(file.name, data)


def _facts(files: Sequence[ReadableFile], read: Set[str], kinds: Set[str]) -> Iterator[Document]:
    """The objects of the kinds in the tree; rendered files aside."""
    names = "|".join(re.escape(kind) for kind in sorted(kinds))
    expression = re.compile(rf"kind[\"']?\s*:\s*[\"']?(?:{names})(?:List)?\b".encode())
    for file in files:
        if file.key in read:
            continue
        try:
            data = file.read()
        except OSError:
            continue  # reported where it is input
        if data.startswith(MARK.encode()) or not expression.search(data):
            continue
        documents, _ = yamlio.parse(file.name, data)
        for document in documents:
            yield from (part for part in document.objects if text_at(part.value, "kind") in kinds)


def base_of_policy(file: str) -> str:
    """The folder that the globs of a policy of the command line start at."""
    return os.path.dirname(os.path.abspath(file))
