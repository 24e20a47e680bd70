"""What an OpenModel's source says: where the weights lie, what the engine opens, who brings them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from renderer import load, yamlio
from renderer.api import Inputs, OpenModel, RenderConfig
from renderer.diagnostics import Collector, Stop
from renderer.load.option_lists import OptionListReader
from renderer.load.preset_files import accelerator_types
from renderer.resolve.weight_sources import Weights, read_weights

if TYPE_CHECKING:
    from renderer.input_types import RenderConfigSpec

LOADERS = {name: load.preset(f"loaders/{name}") for name in load.preset_names("loaders")}
DIGEST = f"sha256:{'0' * 64}"


def inputs(**config: Any) -> Inputs:
    (document,), _ = yamlio.parse("llmaz.yaml", b"kind: RenderConfig\n")
    return Inputs(
        config=RenderConfig(cast("RenderConfigSpec", config), document),
        apps=(),
        models={},
        runtimes={},
        preset_runtimes={},
        own_accelerators={},
        loaders=LOADERS,
        accelerators=(),
        definitions=(),
        option_files=OptionListReader(),
        accelerator_types=accelerator_types,
        broken={},
        unreadable=False,
        foreign=0,
    )


def model(source: dict[str, Any]) -> OpenModel:
    """A model called `m` with this source."""
    (document,), problems = yamlio.parse("model.yaml", yamlio.dump({"spec": {"source": source}}).encode())
    assert problems == []
    return OpenModel("m", document.value["spec"], document)


def read(source: dict[str, Any], **config: Any) -> Weights:
    """The weights of a source that must be fine."""
    collector = Collector()
    weights = read_weights(inputs(**config), model(source), collector)
    assert collector.problems == []
    return weights


def refused(source: dict[str, Any], **config: Any) -> list[tuple[str, str]]:
    """Code and field of every finding."""
    collector = Collector()
    try:
        read_weights(inputs(**config), model(source), collector)
    except Stop:
        assert collector.problems, "a Stop says why"
    return [(problem.code, problem.field.removeprefix("spec.source.")) for problem in collector.problems]


def test_a_folder_in_oss_with_a_dot_takes_the_loader_that_knows_folders() -> None:
    usual, dotted, file = (read({"uri": f"oss://bkt.e.com/t/{name}"}) for name in ("m", "m-2.5", "m-2.5.gguf"))
    assert (usual.loader, dotted.loader, file.loader) == ("hub", "store", "hub")
    assert dotted.engine_access == "hub", "an engine that reads the bucket itself gets the usual variables"
    assert dotted.path == "/workspace/models/models--m-2.5"
    assert {key: dotted.words[key] for key in ("Bucket", "Endpoint", "Key", "OneFile")} == {
        "Bucket": "bkt", "Endpoint": "e.com", "Key": "t/m-2.5", "OneFile": False,
    }  # fmt: skip


# --- hubs


@pytest.mark.parametrize(
    ("hub", "expected"),
    [
        (
            {"modelID": "org/a-model"},
            {"path": "/workspace/models/models--org--a-model", "address": "org/a-model", "revision": "main"},
        ),
        ({"modelID": "gpt2"}, {"path": "/workspace/models/models--gpt2", "address": "gpt2"}),
        ({"modelID": "o/_m.1-x"}, {"path": "/workspace/models/models--o--_m.1-x"}),
        ({"modelID": "o/m", "revision": "v2"}, {"revision": "v2"}),
        ({"modelID": "o/m", "name": "ModelScope"}, {"revision": "", "hub": "ModelScope"}),
        ({"modelID": "o/m", "name": "ModelScope", "revision": "master"}, {"revision": "master", "hub": "ModelScope"}),
        (
            {"modelID": "o/m", "filename": "m-Q4.gguf"},
            {"path": "/workspace/models/m-Q4.gguf", "format": "gguf", "one_file": True, "filename": "m-Q4.gguf"},
        ),
        (
            {"modelID": "o/m", "filename": "a/b.GGUF"},
            {"path": "/workspace/models/a/b.GGUF", "format": "gguf", "one_file": True},
        ),
        ({"modelID": "o/m", "filename": "m.safetensors"}, {"format": "safetensors", "one_file": True}),
        ({"modelID": "o/m", "allowPatterns": ["*.gguf", "*.GGUF"]}, {"format": "gguf", "one_file": False}),
        ({"modelID": "o/m", "allowPatterns": ["*.gguf", "*.json"]}, {"format": "safetensors"}),
        ({"modelID": "o/m", "allowPatterns": []}, {"format": "safetensors"}),
        ({"modelID": "o/m", "ignorePatterns": ["*.gguf"]}, {"format": "safetensors"}),
    ],
)
def test_hub(hub: dict[str, Any], expected: dict[str, Any]) -> None:
    weights = read({"modelHub": hub})
    common = {"kind": "hub", "name": "m", "loader": "hub", "hub": "Huggingface", "scheme": "", "host_path": ""}
    expected = {**common, **expected}
    assert {key: getattr(weights, key) for key in expected} == expected
    assert weights.origin.path == ("spec", "source", "modelHub")


def test_what_the_hub_loader_is_told() -> None:
    weights = read({"modelHub": {"modelID": "o/m", "allowPatterns": ["a", "b"], "ignorePatterns": ["c"]}})
    assert weights.words == {
        "ModelID": "o/m",
        "Hub": "Huggingface",
        "Filename": "",
        "Revision": "main",
        "AllowPatterns": "a,b",
        "IgnorePatterns": "c",
    }


@pytest.mark.parametrize(
    ("hub", "expected"),
    [
        ({}, [("E232", "modelHub")]),
        ({"modelID": ""}, [("E232", "modelHub.modelID")]),
        *(
            ({"modelID": name}, [("E233", "modelHub.modelID")])
            for name in ("a/b/c", "/b", "a/", "a//b", "..", "a/.", "-", "a/b c", "ä/b", "a/b@1")
        ),
        *(
            ({"modelID": "o/m", "filename": name}, [("E234", "modelHub.filename")])
            for name in ("", "/a.gguf", "a/", "../a.gguf", "a/../b.gguf")
        ),
        (
            {"modelID": "o/m", "allowPatterns": ["a", "b,c", ""]},
            [("E237", "modelHub.allowPatterns[1]"), ("E237", "modelHub.allowPatterns[2]")],
        ),
        # all at once
        (
            {"name": "ModelScope", "modelID": "a b", "filename": "/x", "allowPatterns": [","]},
            [
                ("E233", "modelHub.modelID"),
                ("E234", "modelHub.filename"),
                ("E235", "modelHub.filename"),
                ("E236", "modelHub.allowPatterns"),
                ("E237", "modelHub.allowPatterns[0]"),
            ],
        ),
    ],
)
def test_hub_refused(hub: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert refused({"modelHub": hub}) == expected


def test_two_dots_inside_a_file_name_are_no_way_up() -> None:
    assert read({"modelHub": {"modelID": "o/m", "filename": "a..b/c..gguf"}}).filename == "a..b/c..gguf"


# --- URIs


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        (
            "s3://bucket/some/folder",
            {"kind": "objectStore", "scheme": "s3", "loader": "store", "path": "/workspace/models/models--folder"},
        ),
        ("s3://bucket/a.b/llama-3.1", {"path": "/workspace/models/models--llama-3.1", "format": "safetensors"}),
        ("s3://bucket/x.gguf", {"path": "/workspace/models/x.gguf", "format": "gguf", "one_file": True}),
        ("s3://bucket/x.GGUF", {"path": "/workspace/models/x.GGUF", "format": "gguf", "one_file": True}),
        ("S3://bucket/x", {"scheme": "s3", "address": "S3://bucket/x"}),
        ("gs://bkt/x", {"scheme": "gs", "loader": "store", "kind": "objectStore"}),
        ("gcs://bkt/x", {"scheme": "gs", "loader": "store", "address": "gcs://bkt/x"}),
        (
            "oss://bucket.oss-cn-x.example.com/a/model",
            {"scheme": "oss", "loader": "hub", "endpoint": "oss-cn-x.example.com"},
        ),
        ("oss://bkt.e/a.b/model", {"endpoint": "e", "path": "/workspace/models/models--model"}),
        ("oss://bkt.e/a/m.gguf", {"path": "/workspace/models/m.gguf", "format": "gguf", "one_file": True}),
        (
            "host:///mnt/models/x",
            {"kind": "host", **dict.fromkeys(("path", "address", "host_path"), "/mnt/models/x"), "loader": None},
        ),
        ("host:///x.gguf", {"kind": "host", "path": "/x.gguf", "format": "gguf", "one_file": True}),
        ("HOST:///x", {"kind": "host", "path": "/x"}),
        ("ollama://llama3.3", {"kind": "ollama", "name": "llama3.3", "path": "", "format": "gguf", "loader": None}),
        ("ollama://org/model:7b", {"kind": "ollama", "name": "org/model:7b"}),
    ],
)
def test_uri(uri: str, expected: dict[str, Any]) -> None:
    weights = read({"uri": uri})
    name = {} if uri.startswith("ollama") else {"name": "m"}
    common = {"one_file": False, "hub": "", "revision": "", "filename": "", **name}
    expected = {**common, **expected}
    assert {key: getattr(weights, key) for key in expected} == expected
    assert weights.origin.path == ("spec", "source", "uri")


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("s3://bkt/c/d", {"Bucket": "bkt", "Key": "c/d", "Target": "/workspace/models/models--d", "OneFile": False}),
        ("s3://bkt/a.gguf", {"Bucket": "bkt", "Key": "a.gguf", "Target": "/workspace/models/a.gguf", "OneFile": True}),
        ("gcs://bkt/a", {"Scheme": "gs", "Endpoint": "", "Region": "", "Anonymous": False, "SecretAs": ""}),
        ("oss://bkt.e.f/a/c", {"Scheme": "oss", "Bucket": "bkt", "Endpoint": "e.f", "Key": "a/c"}),
    ],
)
def test_what_a_store_loader_is_told(uri: str, expected: dict[str, Any]) -> None:
    weights = read({"uri": uri})
    assert {key: weights.words[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("uri", "config", "expected"),
    [
        ("s3://bkt/x", {"endpoint": "http://minio"}, {"Endpoint": "http://minio", "Region": "", "Anonymous": False}),
        ("s3://bkt/x", {"region": "eu-1", "anonymous": True}, {"Endpoint": "", "Region": "eu-1", "Anonymous": True}),
        # Google has one endpoint and no region.
        ("gs://bkt/x", {"endpoint": "http://minio", "region": "eu-1"}, {"Endpoint": "", "Region": ""}),
        ("oss://bkt.e/x", {"endpoint": "http://minio", "anonymous": True}, {"Endpoint": "e", "Anonymous": False}),
    ],
)
def test_what_the_store_loader_is_configured_to(uri: str, config: dict[str, Any], expected: dict[str, Any]) -> None:
    weights = read({"uri": uri}, loaders={"store": config})
    assert {key: weights.words[key] for key in expected} == expected
    assert weights.endpoint == expected["Endpoint"]


@pytest.mark.parametrize(
    ("secret", "expected"),
    [(None, ""), ("name", ""), ({"name": "n"}, "keyFile"), ({"name": "n", "as": "hmac"}, "hmac")],
)
def test_how_a_secret_of_google_is_used(secret: object, expected: str) -> None:
    assert read({"uri": "gs://bkt/x"}, secrets={"gcs": secret}).words["SecretAs"] == expected
    assert read({"uri": "s3://bkt/x"}, secrets={"gcs": secret}).words["SecretAs"] == ""


@pytest.mark.parametrize(
    ("uri", "codes"),
    [
        ("s3:/b/x", "E240"),
        ("://b", "E241"),
        ("s3://bkt/x?u=http://y", "E240"),
        ("http://x/y", "E241"),
        ("Huggingface://o/m", "E241"),  # what a loader serves by name is no scheme
        ("s3://b", "E242"),
        ("s3://", "E242"),
        ("s3:///x", "E242"),
        ("oss://bucket/x.y", "E242"),
        ("oss://bkt.e", "E242"),
        ("oss://.e/x", "E242"),
        ("oss://b./x", "E242"),
        ("oss://b/c.e/x", "E242"),
        ("s3://bkt/x/", "E243"),
        ("s3://bkt/../x", "E243"),
        ("s3://bkt/x/..", "E243"),
        ("host://x", "E244"),
        ("host://", "E244"),
        ("host:///", "E244"),
        ("host:////", "E244"),
        ("host:///.", "E244"),
        ("host:///a/../b", "E244"),
        ("ollama://", "E245"),
        ("ollama:///x", "E245"),
        ("ollama:// x", "E245"),
    ],
)
def test_uri_refused(uri: str, codes: str) -> None:
    assert refused({"uri": uri}) == [(codes, "uri")]


# --- images


def image(rest: str, kubernetes: str = "1.35", **loaders: Any) -> dict[str, Any]:
    return {"source": {"uri": f"oci://{rest}"}, "targets": {"kubernetes": kubernetes}, "loaders": {"oci": loaders}}


@pytest.mark.parametrize(
    ("rest", "folder"),
    [
        (f"registry.example/a/b@{DIGEST}", "models--b"),
        (f"registry.example/a/b:v1@{DIGEST}", "models--b"),
        (f"registry.example/a/b:latest@{DIGEST}", "models--b"),
        ("registry.example/b:v1", "models--b"),
        ("registry.example:5000/b:v1", "models--b"),
        ("org/b:v1", "models--b"),
    ],
)
def test_image(rest: str, folder: str) -> None:
    arguments = image(rest)
    weights = read(arguments.pop("source"), **arguments)
    assert (weights.kind, weights.image, weights.loader, weights.format) == ("oci", rest, None, "safetensors")
    assert weights.host_path == f"/workspace/models/{folder}"
    assert weights.path == f"/workspace/models/{folder}/models"
    assert weights.address == f"oci://{rest}"


@pytest.mark.parametrize(("inside", "path"), [("", ""), ("/", ""), ("w/x/", "/w/x"), ("/w", "/w")])
def test_where_in_an_image(inside: str, path: str) -> None:
    arguments = image("r/b:1", path=inside)
    assert read(arguments.pop("source"), **arguments).path == f"/workspace/models/models--b{path}"


@pytest.mark.parametrize(
    ("rest", "kubernetes", "code"),
    [
        ("b:1", "1.35", "E247"),
        ("", "1.35", "E247"),
        ("r/:1", "1.35", "E247"),
        ("/b:1", "1.35", "E247"),
        ("r/b@md5:0", "1.35", "E247"),
        ("r/b", "1.35", "E248"),
        ("r:5000/b", "1.35", "E248"),
        ("r/b:latest", "1.35", "E248"),
        ("r/b:1", "1.34", "E249"),
        ("r/b:1", "1.34.9", "E249"),
    ],
)
def test_image_refused(rest: str, kubernetes: str, code: str) -> None:
    arguments = image(rest, kubernetes)
    assert refused(arguments.pop("source"), **arguments) == [(code, "uri")]


def test_image_volumes_need_a_target() -> None:
    assert refused({"uri": "oci://r/b:1"}) == [("E249", "uri")]


# --- neither, both


def test_exactly_one_of_hub_and_uri() -> None:
    assert refused({"modelHub": {"modelID": "o/m"}, "uri": "s3://bkt/x"}) == [("E230", "uri")]
    assert refused({"other": 1}) == [("E231", "spec.source")]
