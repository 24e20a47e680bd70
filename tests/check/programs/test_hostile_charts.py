"""What a hostile chart can make helm do: nothing is fetched, read outside or run, and time and memory are bounded."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from renderer import yamlio
from renderer.check.programs import process
from renderer.check.programs.helm import RenderedCharts, render_charts
from tests.hostile.listeners import Listeners, listeners
from tests.programs import tool

Member: TypeAlias = tuple[str, bytes, dict[str, object]]
CHART = "apiVersion: v2\nname: {}\nversion: 1.0.0\n"
OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: {{ EXPRESSION | quote }}}\n"
FILES = OBJECT.replace("EXPRESSION", '.Files.Get "files/x"')
RELEASE = b"""\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: a}
spec: {chart: {spec: {chart: vllm}}, values: {a: 1}}
"""


@pytest.fixture
def heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listeners]:
    """Listeners that helm could reach, beside a folder of charts and a secret file."""
    monkeypatch.setenv("PATH", str(tool("helm").parent))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.json").write_text('{"required": ["CANARY"]}')
    (tmp_path / "charts/vllm/templates").mkdir(parents=True)
    (tmp_path / "charts/vllm/Chart.yaml").write_text(CHART.format("vllm"))
    (tmp_path / "charts/vllm/templates/a.yaml").write_text(OBJECT.replace("EXPRESSION", '"a"'))
    with listeners() as heard:
        yield heard


def render(files: Mapping[str, str] = {}) -> tuple[RenderedCharts, str]:
    """What helm makes of the chart with these files, and the problems."""
    for path, text in files.items():
        (place := Path("charts/vllm") / path).parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    rendered = render_charts(yamlio.parse("release.yaml", RELEASE)[0], "charts")
    text = "\n".join(map(str, rendered.problems))
    assert "CANARY" not in text + str([document.value for document in rendered.objects])
    return rendered, text


def archive(*members: Member) -> bytes:
    """The archive of a chart, with more members."""
    chart: Member = ("vllm/Chart.yaml", CHART.format("vllm").encode(), {})
    template: Member = ("vllm/templates/a.yaml", FILES.encode(), {})
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data, properties in (chart, template, *members):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            for key, value in properties.items():
                setattr(member, key, value)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


SCHEMAS = {
    "$ref": '{"$ref": "URL"}',
    "of IPv6": '{"$ref": "http://[::1]:PORT/a.json"}',
    "of a property": '{"properties": {"a": {"anyOf": [{"$ref": "URL"}]}}}',
    "$schema": '{"$schema": "URL"}',
    "$dynamicRef": '{"$schema": "https://json-schema.org/draft/2020-12/schema", "$dynamicRef": "URL"}',
    "relative": '{"$id": "URL", "$ref": "b.json"}',
    "by a base within": '{"properties": {"a": {"$id": "URL", "$ref": "/b.json"}}}',
    "a file": '{"$ref": "file://FOLDER/secret.json"}',
    "a file beside": '{"$ref": "../../secret.json"}',
    "escaped": '{"\\u0024ref": "URL"}',
    "given twice": '{"$ref": "#", "$ref": "URL"}',
    "with a mark": '\ufeff{"$ref": "URL"}',
    "not UTF-8": '{"title": "\udcff", "$ref": "URL"}',
}
PLACES = ("", "charts/below/", "charts/below/charts/further/")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_that_refers_elsewhere(name: str, place: str, heard: Listeners, tmp_path: Path) -> None:
    text = SCHEMAS[name].replace("URL", f"{heard.addresses()[0]}/a.json").replace("FOLDER", str(tmp_path))
    for below in (*PLACES[1:],):
        (tmp_path / "charts/vllm" / below).mkdir(parents=True, exist_ok=True)
        (tmp_path / "charts/vllm" / below / "Chart.yaml").write_text(CHART.format(Path(below).name))
    schema = tmp_path / "charts/vllm" / place / "values.schema.json"
    schema.write_bytes(text.replace("PORT", str(heard.ports[0])).encode("utf-8", "surrogateescape"))
    rendered, problems = render()
    assert heard.seen() == []
    assert len(rendered.objects) == 1
    assert f"the chart of the HelmRelease 'a' is rendered without vllm/{place}values.schema.json" in problems


def test_a_schema_in_an_archive_or_behind_a_link(heard: Listeners, tmp_path: Path) -> None:
    text = f'{{"$ref": "{heard.addresses()[0]}/a.json"}}'
    schema: Member = ("below/values.schema.json", text.encode(), {})
    data = archive(("below/Chart.yaml", CHART.format("below").encode(), {}), schema)
    (tmp_path / "charts/vllm/charts").mkdir()
    (tmp_path / "charts/vllm/charts/below-1.0.0.tgz").write_bytes(data)
    assert "the values.schema.json of the archive vllm/charts/below-1.0.0.tgz" in render()[1]
    (tmp_path / "charts/vllm/charts/below-1.0.0.tgz").unlink()
    (tmp_path / "charts/below").mkdir()
    (tmp_path / "charts/below/Chart.yaml").write_text(CHART.format("below"))
    (tmp_path / "charts/below/values.schema.json").write_text(text)
    (tmp_path / "charts/vllm/charts/below").symlink_to("../../below")
    assert "rendered without vllm/charts/below/values.schema.json" in render()[1]
    assert heard.seen() == []


@pytest.mark.parametrize("reference", ["#/$defs/a", "http://json-schema.org/draft-07/schema#"])
def test_a_schema_that_refers_to_what_helm_has_judges(reference: str, heard: Listeners) -> None:
    schema = f'{{"$defs": {{"a": {{}}}}, "allOf": [{{"$ref": "{reference}"}}], "required": ["missing"]}}'
    rendered, problems = render({"values.schema.json": schema})
    assert not rendered.objects
    assert "missing property 'missing' [E565]" in problems


@pytest.mark.parametrize(
    "expression",
    [
        'lookup "v1" "Secret" "" "" | empty | ternary "" "found"',
        'getHostByName "localhost"',
        '.Files.Get "../../secret.json"',
        '.Files.Get "PLACE/secret.json"',
        '(.Files.Glob "../../*").AsConfig | trim | trimAll "{}"',
        'tpl "{{ .Files.Get \\"../../secret.json\\" }}" .',
        'join "" (.Files.Lines "../../secret.json")',
    ],
)
def test_a_template_reads_its_chart_alone(expression: str, heard: Listeners, tmp_path: Path) -> None:
    template = OBJECT.replace("EXPRESSION", expression.replace("PLACE", str(tmp_path)))
    rendered, problems = render({"templates/a.yaml": template})
    assert [document.value["data"]["x"] for document in rendered.objects] == [""], problems
    assert heard.seen() == []


@pytest.mark.parametrize(
    ("name", "kind", "link"),
    [
        ("vllm/files/x", tarfile.SYMTYPE, "../../../secret.json"),
        ("vllm/files/x", tarfile.LNKTYPE, "../../secret.json"),
        ("vllm/files/x", tarfile.CHRTYPE, ""),
        ("vllm/files/x", tarfile.FIFOTYPE, ""),
    ],
)
def test_what_is_no_file_in_an_archive_is_empty(
    name: str, kind: bytes, link: str, heard: Listeners, tmp_path: Path
) -> None:
    (tmp_path / "charts/vllm").rename(tmp_path / "vllm")
    (tmp_path / "charts/vllm-1.0.0.tgz").write_bytes(archive((name, b"", {"type": kind, "linkname": link})))
    rendered, problems = render()
    assert [document.value["data"]["x"] for document in rendered.objects] == [""], problems


@pytest.mark.parametrize(("name", "size"), [("vllm/../../x", 1), ("vllm//etc/x", 1), ("vllm/files/x", 110 << 20)])
def test_an_archive_that_helm_refuses(name: str, size: int, heard: Listeners, tmp_path: Path) -> None:
    (tmp_path / "charts/vllm").rename(tmp_path / "vllm")
    (tmp_path / "charts/vllm-1.0.0.tgz").write_bytes(archive((name, bytes(size), {})))
    assert "helm: unable to load chart archive [E565]" in render()[1]
    assert not (tmp_path.parent / "x").exists()


def test_a_link_out_behind_a_link_to_a_folder(heard: Listeners, tmp_path: Path) -> None:
    (tmp_path / "charts/other").mkdir()
    (tmp_path / "charts/other/x").symlink_to(tmp_path / "secret.json")
    (tmp_path / "charts/vllm/files").symlink_to("../other")
    assert "charts/vllm/files/x: this symbolic link points outside the tree" in render({"templates/a.yaml": FILES})[1]
    (tmp_path / "charts/other/x").unlink()
    (tmp_path / "charts/other/up").symlink_to(tmp_path)
    assert "charts/vllm/files/up: this symbolic link points outside the tree" in render()[1]


@pytest.mark.parametrize("repository", ["ADDRESS", "oci://HOST/a", "file://../../.."])
def test_dependencies_are_not_fetched(repository: str, heard: Listeners) -> None:
    address = heard.addresses()[0]
    place = repository.replace("ADDRESS", address).replace("HOST", address.removeprefix("http://"))
    text = f"{CHART.format('vllm')}dependencies: [{{name: below, version: 1.x, repository: '{place}'}}]\n"
    assert "missing in charts/ directory: below [E565]" in render({"Chart.yaml": text})[1]
    assert heard.seen() == []


@pytest.mark.parametrize(
    "template",
    [
        '{{ $x := "aaaaaaaaaaaaaaaa" }}{{ range until 40 }}{{ $x = print $x $x }}{{ end }}',
        "{{ until 1000000000 | len }}",
        '{{ repeat 2000000000 "aaaaaaaa" | len }}',
        '{{ define "r" }}{{ tpl "{{ include \\"r\\" . }}" . }}{{ end }}{{ include "r" . }}',
    ],
)
def test_memory_is_bounded(template: str, heard: Listeners, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_MEMORY", 300 << 20)
    assert "helm: it needed more than 314,572,800 bytes of memory [E565]" in render({"templates/a.yaml": template})[1]


def test_time_is_bounded(heard: Listeners, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "SECONDS", 1.0)
    template = "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}"
    assert "helm: it took more than 1 s [E565]" in render({"templates/a.yaml": template})[1]


@pytest.mark.parametrize("field", ["releaseName", "targetNamespace"])
def test_a_release_whose_name_no_command_line_can_hold(field: str, heard: Listeners) -> None:
    release = RELEASE.replace(b"spec: {", f'spec: {{{field}: "a\\0b", '.encode())
    rendered = render_charts(yamlio.parse("release.yaml", release)[0], "charts")
    assert [problem.message for problem in rendered.problems] == ["helm: it cannot be started: embedded null byte"]
