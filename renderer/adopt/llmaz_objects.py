"""The objects of llmaz's API in a set of files, converted together."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from renderer.adopt.conversion_context import conversion_context
from renderer.adopt.llmaz_kinds import ConvertedObject, convert_llmaz_object
from renderer.diagnostics import Diagnostic, told_problems
from renderer.yamlio import Document


class AdoptedObjects(Struct, frozen=True):
    """What became of the documents."""

    objects: list[ConvertedObject]  # in the order of the documents
    others: list[Document]  # those that are no objects of llmaz's API, and what is none of Kubernetes either
    problems: list[Diagnostic]  # of all objects, sorted by place


def adopt_llmaz_objects(documents: Sequence[Document], release: str = "") -> AdoptedObjects:
    """The objects of llmaz's API among the documents, those in lists included, in today's shape. A Playground that
    names a trigger of a BackendRuntime gets the trigger itself.

    `release`: of the operator that ran them, such as v0.1.1, where it is known: then Playgrounds keep the version of
    the engine that it ran. Raises ValueError for one that there is not.
    """
    single = [item for document in documents for item in document.objects]
    context = conversion_context(single, release)
    objects: list[ConvertedObject] = []
    others: list[Document] = []
    for document in single:
        converted = convert_llmaz_object(document, context)
        if converted is None:
            others.append(document)
        else:
            objects.append(converted)
    return AdoptedObjects(objects, others, told_problems(problem for item in objects for problem in item.problems))
