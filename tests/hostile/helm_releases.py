"""HelmReleases and charts for `llmaz check --charts`: charts that render, with hostile templates, values and files."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from tests.hostile import manifests, words
from tests.hostile.aims import Aim, Attempt, has_checked
from tests.hostile.listeners import Listeners

Node: TypeAlias = Any
CHART = "apiVersion: v2\nname: web\nversion: 1.2.0\n"
TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {a: {{ .Values.text | default "a" | quote }}, b: {{ .Values.other | default "b" | toJson }}}
"""
# What a template may try: its text, in a field whose value is told where it is wrong.
TRIES = (
    '{{ .Files.Get "../../../canary/x.yaml" | quote }}',
    '{{ .Files.Get "link.yaml" | quote }}',
    '{{ (.Files.Glob "**").AsConfig | quote }}',
    '{{ lookup "v1" "Secret" "" "" | toJson | quote }}',
    '{{ getHostByName "localhost" | quote }}',
    '{{ getHostByName "example.com" | quote }}',
    '{{ env "HOME" | quote }}',
    "{{ tpl (.Values.text | default `a`) . | quote }}",
    '{{ tpl `{{ include "again" . }}` . | quote }}',
    '{{ include "again" . | quote }}',
    "{{ range $i := until 100000 }}{{ $i }}{{ end }}",
    "{{ repeat 100000 `a` | quote }}",
    "{{ regexMatch `^(a+)+$` (repeat 5000 `a`) | quote }}",
    "{{ fail .Values.text }}",
    "{{ toYaml .Values | quote }}",
    "{{ .Values.nothing.of.it }}",
    "{{ genCA `a` 1 | toString | len | quote }}",
    "{{ .Capabilities.KubeVersion | toString | quote }}",
    "{{ readFile `/etc/passwd` }}",
    "{{ now | quote }}",
)
HELPER = '{{ define "again" }}{{ if .Values.loop }}{{ include "again" . }}{{ else }}once{{ end }}{{ end }}\n'


def attempt(folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """A HelmRelease and its chart."""
    files = {
        "Chart.yaml": CHART,
        "templates/a.yaml": TEMPLATE,
        "templates/_b.tpl": HELPER,
        "values.yaml": "loop: false\n",
    }
    values: Node = {"text": words.text(random), "other": random.choice(words.ODD)}
    chance, is_archive = random.random(), random.random() < 0.3
    if chance < 0.3:
        field = random.choice(["metadata: {name: b}\ndata: {a: %s}\n", "metadata: {name: %s}\n"])
        files["templates/c.yaml"] = f"apiVersion: v1\nkind: ConfigMap\n{field % random.choice(TRIES)}"
    elif chance < 0.32:
        values["loop"] = True
        files["templates/c.yaml"] = TEMPLATE + '# {{ include "again" . }}\n'
    elif chance < 0.4:
        files[random.choice([*files])] = words.text(random)
    elif chance < 0.43:
        source = random.choice(listeners.addresses())
        files["Chart.yaml"] += f"dependencies: [{{name: b, version: 1.0.0, repository: '{source}'}}]\n"
    write_chart(folder / "charts", files, random, is_archive=is_archive)
    release = _release(values, random)
    manifests.put(folder, "releases.yaml", manifests.spelt([release], random))
    form = random.choice([(), (), ("--format", "json"), ("--strict",)])
    return Attempt(("check", "--charts", "charts", *form, "releases.yaml"), has_checked)


def _release(values: Node, random: Random) -> Node:
    chart = {"chart": "web", "version": "1.2.0", "sourceRef": {"kind": "HelmRepository", "name": "charts"}}
    spec = {"interval": "5m", "chart": {"spec": chart}, "values": values}
    if random.random() < 0.06:
        spec[random.choice(["releaseName", "targetNamespace"])] = words.text(random)
    body = {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "spec": spec}
    return {**body, "metadata": {"name": "web", "namespace": "llm"}}


def write_chart(charts: Path, files: dict[str, str], random: Random, *, is_archive: bool) -> None:
    """The chart as a folder or an archive; now and then with a link, a bomb or an odd name in it."""
    charts.mkdir(parents=True)
    is_odd = random.random() < 0.15
    if is_archive:
        (charts / "web-1.2.0.tgz").write_bytes(
            _archive(files, random.choice(["link", "up", "bomb", "name"]) if is_odd else "")
        )
        return
    for name, text in files.items():
        manifests.put(charts / "web", name, text)
    if is_odd:
        target = random.choice(["../../../canary/x.yaml", "/etc/passwd", "values.yaml", ".", "/dev/zero", "../.."])
        os.symlink(target, charts / "web" / random.choice(["link.yaml", "templates/link.yaml"]))


def _archive(files: dict[str, str], oddity: str) -> bytes:
    """A gzipped tar of a chart."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        entries: Sequence[tuple[str, bytes]] = [
            (f"web/{name}", text.encode("utf-8", "replace")) for name, text in files.items()
        ]
        entries = [*entries, *_odd_entries(oddity)]
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        if oddity == "link":
            info = tarfile.TarInfo("web/templates/link.yaml")
            info.type, info.linkname = tarfile.SYMTYPE, "../../../canary/x.yaml"
            tar.addfile(info)
    return gzip.compress(data.getvalue(), 1)


def _odd_entries(oddity: str) -> Sequence[tuple[str, bytes]]:
    match oddity:
        case "up":
            return [("web/../../../canary/y.yaml", b"a: 1\n"), ("/canary/y.yaml", b"a: 1\n")]
        case "bomb":
            return [("web/files/zero", bytes(30_000_000))]
        case "name":
            return [("web/templates/\x1b[2J.yaml", b"a: 1\n")]
        case _:
            return []


AIM = Aim("check --charts", 4, "objects that it rendered were checked", attempt)
