"""llmaz check."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import click
from msgspec import Struct

from renderer.cli.console import (
    FORMATS,
    INVALID,
    POLICY,
    VERBOSE,
    complete_files,
    examples,
    exit_with,
    print_line,
    report,
    report_failures,
)
from renderer.cli.standard_streams import write
from renderer.diagnostics import Diagnostic, counted

if TYPE_CHECKING:
    from renderer.check.documents import Meeting
    from renderer.check.engines import EngineCensus
    from renderer.load.hand_written import Manifests
    from renderer.load.manifest_tree import EnvironmentFolders
    from renderer.yamlio import Document

_SHOWN = 3  # names of files that hold no objects


def _patterns(context: click.Context, option: click.Parameter, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The validated patterns of --external."""
    for pattern in patterns:
        if len(pattern.split("/")) not in (2, 3) or not all(pattern.split("/")):
            raise click.BadParameter(f"'{pattern}' is not a KIND/NAMESPACE/NAME, nor KIND/NAME", context, option)
    return patterns


def _place(context: click.Context, option: click.Parameter, place: str | None) -> tuple[str, int] | None:
    """File and line of --explain-engine."""
    if place is None:
        return None
    file, _, line = place.rpartition(":")
    if not file or not (line.isascii() and line.isdigit()):
        raise click.BadParameter(f"'{place}' is not FILE:LINE", context, option)
    return file, int(line)


@click.command(
    short_help="Check any manifests, without a cluster.",
    epilog=examples("llmaz check rendered", "llmaz check rendered --strict --format github"),
)
@click.argument("paths", nargs=-1, shell_complete=complete_files)
@click.option("--strict", is_flag=True, help="Treat warnings, and kinds without a schema, as errors.")
@click.option("--per-object", "alone", is_flag=True, help="Check each object alone, without rules between objects.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How problems are printed."
)
@click.option(
    "--external",
    multiple=True,
    metavar="PATTERN",
    callback=_patterns,
    help="An object that exists elsewhere: KIND/NAMESPACE/NAME, or KIND/NAME for cluster-scoped kinds. * is a "
    "wildcard. Can be repeated.",
)
@click.option(
    "--kustomize",
    "kustomizations",
    multiple=True,
    metavar="DIR",
    help="Build this folder with kustomize, and check the result as a separate set. Can be repeated.",
)
@click.option(
    "--charts",
    metavar="DIR",
    help="The folder that holds the charts of the HelmReleases in PATHS. Each is rendered by helm and checked.",
)
@click.option(
    "--explain-engine",
    "engine_place",
    metavar="FILE:LINE",
    callback=_place,
    help="Do not check. Print which engine the container at this place runs, and how llmaz recognised it (--format: "
    "text or json).",
)
@POLICY
@VERBOSE
def check(
    paths: tuple[str, ...],
    strict: bool,
    alone: bool,
    external: tuple[str, ...],
    form: str,
    kustomizations: tuple[str, ...],
    charts: str | None,
    engine_place: tuple[str, int] | None,
    policy: str,
    verbose: bool,
) -> None:
    """Check any manifests by the rules that a cluster would apply. No cluster is needed.

    It checks schemas, the CEL rules of CRDs, the rules of LeaderWorkerSet's webhook and of autoscalers, and references
    between objects from the Gateway to the pods. An object that is referenced has to be in PATHS, in `external` of the
    nearest llmaz.yaml, or in --external.

    - among PATHS is standard input, such as the output of helm template.

    Containers that run an engine are checked by the same rules as a Playground. Objects of different rendered
    environments are not compared with each other. Notes say what could not be checked; they are never errors.
    """
    if engine_place:
        _explain_engine(*engine_place, form)
    if not paths and not kustomizations:
        raise click.UsageError("Missing argument 'PATHS...'.")
    with report_failures(form):
        from renderer.check.engines import EngineCensus
        from renderer.load.hand_written import Manifests
        from renderer.load.manifest_tree import manifests

        files = manifests(paths) if paths else Manifests()
        problems, sets = _built_sets(kustomizations)
        if paths:
            unapplied = [document for documents in files.unapplied.values() for document in documents]
            sets = [
                _ManifestSet(paths, files.documents, files.kustomizations, files.overlays, files.variants, unapplied),
                *sets,
            ]
        problems += files.problems
        if charts:
            problems += _add_charts(sets, charts)
        problems += _value_problems(files, sets, paths)
        unjudged: list[Document] = []
        census = EngineCensus()
        for manifest_set in sets:
            findings, unknown = _judge(manifest_set, external, policy, census, alone=alone)
            problems += findings
            unjudged += unknown
        problems += census.notes()
    if problems and not (strict or verbose):
        from renderer.diagnostics.wordings import WORDINGS  # a quiet run needs none of them

        problems = [problem for problem in problems if not WORDINGS[problem.code].quiet]
    unchecked = _Unchecked(files, sets, unjudged)
    failed = report(problems, form, strict, brief=not verbose) + (len(unchecked.unknown_objects()) if strict else 0)
    unchecked.show(form, verbose=verbose)
    count = sum(len(manifest_set.documents) for manifest_set in sets)
    checked = [f"{counted(count - len(unjudged), 'object')} checked", census.words, counted(failed, "error")]
    print_line(form, ", ".join(filter(None, checked)))
    exit_with(INVALID if failed or not (count or files.chart_values) else 0)


class _ManifestSet(Struct):
    """Manifests that are applied together."""

    paths: tuple[str, ...]  # of the command line
    documents: list[Document]
    kustomizations: Mapping[str, Set[str]] = {}  # by name of a file: the folders of those that take it
    overlays: Sequence[Document] = ()  # the kustomizations beside them
    variants: Set[str] = frozenset()  # names of files of which nothing says with what they are applied
    unapplied: list[Document] = []  # beside them, in files that no kustomization takes
    rendered: list[Document] = []  # the HelmReleases among them whose charts' objects are among them too


class _Unchecked:
    """What was not checked."""

    def __init__(self, files: Manifests, sets: list[_ManifestSet], unjudged: Sequence[Document]) -> None:
        """`unjudged`: the objects without a schema, as often as there are clusters to which they belong."""
        from renderer.check.engines import is_release
        from renderer.load.validation import KINDS

        self._ignored = files.ignored
        objects = list({id(document): document for document in unjudged}.values())
        self._inputs = [document for document in objects if KINDS.get(_kind(document)) == document.value["apiVersion"]]
        of_inputs = {id(document) for document in self._inputs}
        self._unknown = [document for document in objects if id(document) not in of_inputs]
        rendered = {id(release) for manifest_set in sets for release in manifest_set.rendered}
        self._releases = [
            document
            for manifest_set in sets
            for document in manifest_set.documents
            if id(document) not in rendered and is_release(document.value)
        ]
        self._files = (
            ("not a Kubernetes object", [name for name in files.others if name not in files.chart_values]),
            ("values of a chart, which llmaz adopt reads", [*files.chart_values]),
            ("part of a kustomization", files.patches),
            ("not named by the kustomization beside it", [*files.unapplied]),
            ("chart, which Helm has to render first", files.charts),
        )

    def unknown_objects(self) -> list[Document]:
        """The objects of kinds that nobody knows, in files that `ignore` does not name."""
        return [document for document in self._unknown if document.name not in self._ignored]

    def show(self, form: str, *, verbose: bool) -> None:
        """Prints it, what `ignore` names only with `verbose`; and in one line how much that is, and of input."""
        unknown = self._unknown if verbose else self.unknown_objects()
        for kind, count in sorted(Counter(map(_version_and_kind, unknown)).items()):
            print_line(form, f"not checked, no schema: {kind} ({counted(count, 'object')})")
        releases = [release for release in self._releases if verbose or release.name not in self._ignored]
        if releases:
            kinds = sorted(Counter(map(_kind, releases)).items())
            names = ", ".join(counted(count, kind) for kind, count in kinds)
            print_line(form, f"charts not rendered, only searched for engines: {names}")
        for what, file_names in self._files:
            if shown := [name for name in file_names if verbose or name not in self._ignored]:
                print_line(form, f"not checked, {what}: {_some(shown)}")
        if known := [*self._input_words(), *(() if verbose else self._ignored_words())]:
            print_line(form, f"not checked: {'; '.join(known)}")

    def _input_words(self) -> Iterator[str]:
        if self._inputs:
            yield f"{counted(len(self._inputs), 'object')} of llmaz's input, which llmaz validate checks"

    def _ignored_words(self) -> Iterator[str]:
        objects = [document for document in (*self._unknown, *self._releases) if document.name in self._ignored]
        others = [name for _, names in self._files for name in names if name in self._ignored]
        counts = [counted(count, noun) for count, noun in ((len(objects), "object"), (len(others), "file")) if count]
        if counts:
            yield f"{' and '.join(counts)} that ignore in llmaz.yaml names (-v)"


def _kind(document: Document) -> str:
    return str(document.value["kind"])


def _version_and_kind(document: Document) -> str:
    return f"{document.value['apiVersion']}/{document.value['kind']}"


def _built_sets(folders: tuple[str, ...]) -> tuple[list[Diagnostic], list[_ManifestSet]]:
    """What kustomize builds of each folder, and the problems."""
    if not folders:
        return [], []
    from renderer.check.programs.kustomize import build_kustomization
    from renderer.load.manifest_tree import filled_documents
    from renderer.load.run_scope import require_paths
    from renderer.source.tree import base_of

    require_paths(folders, os.path.isdir)
    problems, sets = [], []
    for folder in folders:
        documents, findings = build_kustomization(folder)
        documents, notes = filled_documents(documents, base_of((folder,))[0], folder)
        problems += [*findings, *notes]
        sets.append(_ManifestSet((folder,), documents))
    return problems, sets


def _add_charts(sets: list[_ManifestSet], folder: str) -> list[Diagnostic]:
    """Adds the objects of HelmReleases whose charts lie in the folder to their sets. The problems."""
    from renderer.check.programs.helm import render_charts
    from renderer.load.run_scope import require_paths

    require_paths((folder,), os.path.isdir)
    problems = []
    for manifest_set in sets:
        charts = render_charts(manifest_set.documents, folder)
        manifest_set.documents = [*manifest_set.documents, *charts.objects]
        manifest_set.rendered = charts.releases
        problems += charts.problems
    return problems


def _value_problems(files: Manifests, sets: Sequence[_ManifestSet], paths: Sequence[str]) -> Iterator[Diagnostic]:
    """Warnings for keys that a chart does not have: in files with values, and in objects that name a chart of the tree.
    What helm renders it judges itself.
    """
    if not (files.charts or files.chart_values):
        return
    from renderer.check.engines import (
        is_release,
        keys_of_files,
        keys_of_release,
        misspelt_keys,
        read_values,
        tree_charts,
    )
    from renderer.source.tree import STANDARD_INPUT, base_of, repository_top

    for name, documents in files.chart_values.items():
        if name not in files.ignored:
            for document in documents:
                yield from misspelt_keys(document)
    charts = [*tree_charts([name for name in files.charts if name not in files.ignored])]
    for chart in charts:
        yield from keys_of_files(chart)
    top = repository_top(base_of([path for path in paths if path != STANDARD_INPUT])[0], os.path.exists)
    for manifest_set in sets if charts else ():
        rendered = {id(release) for release in manifest_set.rendered}
        for document in manifest_set.documents:
            if id(document) not in rendered and is_release(document.value):
                yield from keys_of_release(read_values(document)[0], charts, top)


def _explain_engine(file: str, line: int, form: str) -> NoReturn:
    """Prints what is known of the engine in a container of a file."""
    with report_failures(form):
        from renderer.check.engines import container_at, engine_candidates, explain_engine, explanation_text
        from renderer.load.index import engine_catalog
        from renderer.load.manifest_tree import manifests, split_by_cluster

        ((config, _, documents), *_) = split_by_cluster((file,), manifests((file,)).documents)
        catalog = engine_catalog(config)
        containers = [container for document in documents for container in engine_candidates(document, catalog)]
        container = container_at(containers, line)
        record = explain_engine(container, catalog, documents) if container else {}
    if not record:
        lines = ", ".join(str(known.origin().place[1]) for known in containers)
        hint = f"its engines begin in line {lines}" if lines else "no container there runs a known engine"
        raise click.UsageError(f"no engine at {file}:{line}: {hint}")
    write(f"{json.dumps(record, indent=2)}\n" if form == "json" else explanation_text(record))
    exit_with(0)


def _judge(
    manifests: _ManifestSet, external: tuple[str, ...], policy: str, census: EngineCensus, *, alone: bool
) -> tuple[list[Diagnostic], list[Document]]:
    """All problems of a set, by the policies and the rules of a cluster; and the objects without a schema."""
    from renderer.check.documents import validate_documents
    from renderer.check.graph import declared_objects
    from renderer.check.sync_sources import validate_sync_source
    from renderer.load.index import engine_catalog
    from renderer.load.manifest_tree import environment_folders, policies_of, split_by_cluster

    tree = policies_of(manifests.paths, policy)
    problems = [*tree.problems]
    folders = environment_folders(manifests.paths)
    for document in manifests.documents if folders.names else ():
        problems += validate_sync_source(document, folders.output, folders.names, folders.has_file)
    problems += _sync_problems(manifests, folders)
    clusters = split_by_cluster(manifests.paths, manifests.documents)
    if tree.policies:
        from renderer.policy import judge_documents

        problems += judge_documents(tree.policies, tree.base, tree.output, [read for _, _, read in clusters])
    unjudged: dict[int, Document] = {}
    for config, cluster_findings, cluster_documents in clusters:
        findings, unknown = validate_documents(
            cluster_documents,
            declared_objects(config, external),
            alone=alone,
            engines=engine_catalog(config),
            census=census,
            rendered=manifests.rendered,
            unapplied=manifests.unapplied,
            meeting=partial(_meeting, manifests),
        )
        problems += [*cluster_findings, *findings]
        unjudged |= {id(document): document for document in unknown}
    return problems, [*unjudged.values()]


def _sync_problems(manifests: _ManifestSet, folders: EnvironmentFolders) -> Iterator[Diagnostic]:
    """What is wrong with how the objects and kustomizations of a set bring rendered files to a cluster."""
    from renderer.check.sync_sources import synced_repository, validate_overlay, validate_sync_folder
    from renderer.kubernetes.sync_sources import is_sync_source

    syncing = [document for document in manifests.documents if is_sync_source(document.value)]
    if not (syncing or manifests.overlays):
        return
    paths = {document.name: folders.path_of(document.name) for document in manifests.documents}
    repository = synced_repository(
        [(paths[document.name], document.value) for document in manifests.documents],
        folders.output,
        folders.names,
        folders.has_file,
        folders.folders_in,
    )
    for document in syncing:
        yield from validate_sync_folder(document, repository)
    for document in manifests.overlays:
        yield from validate_overlay(document, os.path.dirname(folders.path_of(document.name)), repository)


def _meeting(manifests: _ManifestSet, one: Document, other: Document) -> Meeting:
    """Whether two documents are applied together: not where each is taken by a kustomization, and none takes both; and
    nobody knows of files of one folder that none takes.
    """
    from renderer.check.documents import Meeting

    names = {one.name, other.name}
    takers = [manifests.kustomizations.get(document.name, frozenset()) for document in (one, other)]
    if all(takers) and takers[0].isdisjoint(takers[1]):
        return Meeting.NEVER
    return Meeting.PERHAPS if len(names) > 1 and names <= manifests.variants else Meeting.ALWAYS


def _some(names: Sequence[str]) -> str:
    """A few of the names, and the number of the others."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
