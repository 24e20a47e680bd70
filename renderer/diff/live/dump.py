"""Reads a dump of a cluster, renders the tree, and compares them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer import load, pipeline
from renderer.api import RenderOptions
from renderer.diagnostics import Diagnostic, NamedSource, Origin, counted, has_errors, make_diagnostic
from renderer.diff.fields import same
from renderer.diff.live.comparison import compare_live, object_key
from renderer.diff.live.records import ADDED, LiveReport
from renderer.diff.live.takeovers import find_takeovers, moving_services, name_of, rendered_bodies
from renderer.diff.objects import ObjectKey
from renderer.kubernetes.json_values import text_at
from renderer.load.index import engine_catalog
from renderer.load.manifest_tree import manifests
from renderer.source.tree import DiskBeside
from renderer.yamlio import Document


class LiveComparison(Struct, frozen=True):
    """What a dump and the tree come to."""

    problems: list[Diagnostic]
    report: LiveReport | None = None  # None with errors


def compare_dump(dumps: Sequence[str], options: RenderOptions) -> LiveComparison:
    """Compares the objects in files and folders with what the tree renders. A dump that lies in the tree is not input.

    Raises RenderError for a path that is missing, and for RenderConfig.
    """
    files = manifests(dumps)
    problems = [*files.problems, *_dump_problems(files.documents)]
    options = load.for_one_environment(replace(options, file_system=DiskBeside(dumps), texts=True), "llmaz diff")
    scopes = load.scopes(options)
    rendered = pipeline.render(options, scopes)
    problems += rendered.problems
    if has_errors(problems):
        return LiveComparison(problems)
    bodies = rendered_bodies(rendered.texts)
    scope = scopes[1][0]
    later = [document.value for document in moving_services(scope.tree.files)]
    live = [document.value for document in files.documents if isinstance(document.value, dict)]
    takeovers = find_takeovers(live, bodies, later)
    names = {name_of(takeover.running): name_of(takeover.rendered)[1] for takeover in takeovers}
    rendered_keys = {object_key(body) for body in bodies}
    bodies += [body for body in later if object_key(body) not in rendered_keys]
    report = compare_live(files.documents, bodies, engine_catalog(scope.config), names)
    if all(item.state == ADDED for item in report.objects):
        count = counted(len(files.documents), "object")
        problems.extend(make_diagnostic("E970", Origin(NamedSource(path)), count=count) for path in dumps)
        return LiveComparison(problems)
    return LiveComparison(problems, report)


def _dump_problems(documents: Sequence[Document]) -> Iterator[Diagnostic]:
    """What is not an object, and objects that are there twice and differ."""
    first: dict[ObjectKey, Document] = {}
    for document in documents:
        body = document.value
        missing = [path[-1] for path in (("apiVersion",), ("kind",), ("metadata", "name")) if not text_at(body, *path)]
        if missing:
            yield make_diagnostic("E971", document.origin(), missing=missing[0])
            continue
        known = first.setdefault(object_key(body), document)
        if known is not document and not same(known.value, body):
            file, line, _ = known.origin("metadata", "name").place
            yield make_diagnostic("W970", document.origin("metadata", "name"), other=f"{file}:{line}")
