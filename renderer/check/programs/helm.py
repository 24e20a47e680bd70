"""What helm renders of the charts of HelmReleases, with each field located at the value that says it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence

from msgspec import Struct

from renderer.check.programs.built_objects import built_objects
from renderer.check.programs.chart_folder import LocalChart, locate_chart
from renderer.check.programs.chart_schemas import value_schemas
from renderer.check.programs.process import ProgramOutput, run_program
from renderer.check.programs.release_values import ReleaseValues, ValueIndex, release_values
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.kubernetes.json_values import map_at, text_at, value_at
from renderer.kubernetes.wellknown import CLUSTER_SCOPED
from renderer.yamlio import Document

_EXACT = re.compile(r"v?\d+\.\d+\.\d+[0-9A-Za-z.+-]*")
_KIND, _GROUP = "HelmRelease", "helm.toolkit.fluxcd.io/"
_CHART = ("spec", "chart", "spec")


class RenderedCharts(Struct, frozen=True):
    """What the charts of HelmReleases make."""

    objects: list[Document] = []
    releases: list[Document] = []  # those whose chart was rendered
    problems: list[Diagnostic] = []


def render_charts(documents: Sequence[Document], folder: str) -> RenderedCharts:
    """The objects of all HelmReleases among the documents whose chart lies in a folder, as a folder `NAME` or a file
    `NAME-VERSION.tgz`. Raises RenderError where helm is missing.
    """
    rendered = RenderedCharts()
    for document in documents:
        if text_at(document.value, "kind") == _KIND and text_at(document.value, "apiVersion").startswith(_GROUP):
            release = _Release(document, documents)
            if chart := _chart(release, folder, rendered.problems):
                _render(release, chart, folder, rendered)
    return rendered


class _Release:
    """A HelmRelease, as helm needs it."""

    def __init__(self, document: Document, documents: Sequence[Document]) -> None:
        body = document.value
        self.document = document
        self.values: ReleaseValues = release_values(document, documents)
        self.chart = _chart_name(body, documents)
        self.version = text_at(body, *_CHART, "version")
        target, own_name = text_at(body, "spec", "targetNamespace"), text_at(body, "metadata", "name")
        self.namespace = target or text_at(body, "metadata", "namespace", default="default")
        self.name = text_at(body, "spec", "releaseName") or (f"{target}-{own_name}" if target else own_name)
        self.words = {"name": own_name, "chart": self.chart}

    @property
    def origin(self) -> Origin:
        """The place of what no value says."""
        return self.document.origin("spec", "chartRef" if map_at(self.document.value, "spec", "chartRef") else "chart")

    def unapplied(self) -> Iterator[tuple[Origin, str]]:
        """What the chart is rendered without, and where it is asked for."""
        yield from self.values.missing
        if value_at(self.document.value, "spec", "postRenderers"):
            yield self.document.origin("spec", "postRenderers"), "its postRenderers"
        if value_at(self.document.value, *_CHART, "valuesFiles"):
            yield self.document.origin(*_CHART, "valuesFiles"), "its valuesFiles"


def _chart_name(release: object, documents: Sequence[Document]) -> str:
    """The name of a HelmRelease's chart: of the last part of its path, or of its OCIRepository's address."""
    if chart := text_at(release, *_CHART, "chart"):
        return chart.rstrip("/").rpartition("/")[2]
    name = text_at(release, "spec", "chartRef", "name")
    for document in documents:
        if (text_at(document.value, "kind"), text_at(document.value, "metadata", "name")) == ("OCIRepository", name):
            return text_at(document.value, "spec", "url").rpartition("/")[2] or name
    return name


def _chart(release: _Release, folder: str, problems: list[Diagnostic]) -> LocalChart | None:
    """The chart of a release where helm may read it; all that is to be said of it is added to the problems."""
    chart = locate_chart(release.chart, release.version, folder)
    if not chart:
        problems.append(make_diagnostic("W565", release.origin, folder=folder, **release.words))
        return None
    links = [*chart.links_out(folder)]
    problems += links
    if _EXACT.fullmatch(release.version) and release.version.lstrip("v") != chart.version.lstrip("v"):
        words = {"version": chart.version, "path": chart.path, "wanted": release.version}
        problems.append(make_diagnostic("W566", release.document.origin(*_CHART, "version"), **words))
    for origin, what in release.unapplied():
        problems.append(make_diagnostic("N565", origin, what=what, **release.words))
    return None if links else chart


def _render(release: _Release, chart: LocalChart, folder: str, rendered: RenderedCharts) -> None:
    schemas = value_schemas(chart.path, folder)
    for what in schemas.left_out:
        rendered.problems.append(make_diagnostic("N565", release.origin, what=what, **release.words))
    output = _run_helm(release, chart, schemas.is_judged)
    if output.error:
        what = output.error.replace(os.path.abspath(chart.path), chart.path)
        rendered.problems.append(make_diagnostic("E565", release.origin, what=what))
        return
    objects, problems = built_objects(output.data, release.origin, ValueIndex(release.document).find)
    for document in objects:
        metadata = document.value.get("metadata") if isinstance(document.value, dict) else None
        if isinstance(metadata, dict) and text_at(document.value, "kind") not in CLUSTER_SCOPED:
            metadata.setdefault("namespace", release.namespace)
    rendered.objects.extend(objects)
    rendered.problems.extend(problems)
    rendered.releases.append(release.document)


def _run_helm(release: _Release, chart: LocalChart, is_judged: bool) -> ProgramOutput:
    with tempfile.TemporaryDirectory() as scratch:
        options = ["--skip-tests", f"--namespace={release.namespace}"]
        if not is_judged:
            options.append("--skip-schema-validation")
        for i, text in enumerate(release.values.texts):
            with open(f"{scratch}/{i}.yaml", "w", encoding="utf-8") as file:
                file.write(text)
            options.append(f"--values={scratch}/{i}.yaml")
        # After `--` nothing is an option, whatever a release is called.
        arguments = ["template", *options, "--", release.name, os.path.abspath(chart.path)]
        return run_program("helm", arguments, scratch=scratch)
