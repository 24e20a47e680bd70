"""Layouts of several architectures become one, with an index. skopeo reads it in `make image-test`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from scripts import join_layouts


def write_blob(layout: Path, body: Any) -> dict[str, Any]:
    content = json.dumps(body).encode()
    digest = hashlib.sha256(content).hexdigest()
    (layout / "blobs" / "sha256").mkdir(parents=True, exist_ok=True)
    (layout / "blobs" / "sha256" / digest).write_bytes(content)
    return {"digest": f"sha256:{digest}", "size": len(content)}


def write_layout(layout: Path, architecture: str, tag: str = "1.0.0") -> dict[str, Any]:
    """A layout of an image without layers. The descriptor of its manifest."""
    config = write_blob(layout, {"architecture": architecture, "os": "linux"})
    manifest = {
        **write_blob(layout, {"config": config, "layers": []}),
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
    }
    entry = manifest | {"annotations": {join_layouts.NAME: tag}}
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
    return manifest


def test_two_architectures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arm, amd = write_layout(tmp_path / "arm", "arm64"), write_layout(tmp_path / "amd", "amd64")
    for output, order in (("one", ("arm", "amd")), ("other", ("amd", "arm"))):
        assert join_layouts.main([*(str(tmp_path / name) for name in order), "--output", str(tmp_path / output)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    (top,) = json.loads((tmp_path / "one" / "index.json").read_text())["manifests"]
    assert (top["digest"], top["annotations"]) == (first, {join_layouts.NAME: "1.0.0"})
    index = join_layouts.blob(tmp_path / "one", top)
    assert index["manifests"] == [
        amd | {"platform": {"architecture": "amd64", "os": "linux"}},
        arm | {"platform": {"architecture": "arm64", "os": "linux"}},
    ]
    for path in (tmp_path / "one" / "blobs" / "sha256").iterdir():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
    assert len(list((tmp_path / "one" / "blobs" / "sha256").iterdir())) == 5


@pytest.mark.parametrize(
    ("architecture", "tag", "message"),
    [
        ("amd64", "1.0.0", "is for amd64, and another layout is too"),
        ("arm64", "2.0.0", "the layouts have several tags: 1.0.0, 2.0.0"),
        ("", "", "is no OCI layout of one image"),
    ],
)
def test_layouts_that_do_not_belong_together(
    architecture: str, tag: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_layout(tmp_path / "amd", "amd64")
    if architecture:
        write_layout(tmp_path / "other", architecture, tag)
    words = [str(tmp_path / "amd"), str(tmp_path / "other"), "--output", str(tmp_path / "output")]
    assert join_layouts.main(words) == 1
    assert message in capsys.readouterr().err
