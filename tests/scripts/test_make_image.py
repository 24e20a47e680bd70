"""Why there is no image, and what of it needs no Debian. `make image-test` makes it, twice, and runs it."""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from renderer import __version__
from renderer.integrations.gitops import plugin
from scripts import make_image
from tests.paths import ROOT


@pytest.mark.parametrize(
    ("program", "user", "wheel", "message"),
    [
        (None, 0, True, "install mmdebstrap and tar and umoci first"),
        ("/bin/true", 1000, True, "it needs root"),
        ("/bin/true", 0, False, f"has no wheel of llmaz {__version__}: run make release-check first"),
    ],
)
def test_what_is_lacking(
    program: str | None,
    user: int,
    wheel: bool,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if wheel:
        (tmp_path / f"llmaz_renderer-{__version__}-py3-none-any.whl").touch()
    monkeypatch.setattr(shutil, "which", lambda _: program)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    mask = os.umask(0o022)
    try:
        assert make_image.main(["--wheels", str(tmp_path), "--output", str(tmp_path / "image")]) == 1
    finally:
        os.umask(mask)
    assert message in capsys.readouterr().err
    assert not (tmp_path / "image").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the image is made on Linux, by GNU tar")
def test_a_layer_does_not_depend_on_who_makes_it(tmp_path: Path) -> None:
    layers = []
    for name, mode, time in (("one", 0o700, 1_000_000_000), ("other", 0o755, 1_700_000_000)):
        folder = tmp_path / name
        for path in ("usr/b", "usr/a"):
            (folder / path).mkdir(parents=True)
            (folder / path).chmod(mode)
            os.utime(folder / path, (time, time))
        (tmp_path / f"{name}-layer").mkdir()
        layers.append(tmp_path / f"{name}-layer" / "program.tar")
        make_image.pack(folder, layers[-1])
    assert layers[0].read_bytes() == layers[1].read_bytes()
    with tarfile.open(layers[0]) as layer:
        facts = [(member.name, member.mode, member.uid, member.mtime) for member in layer.getmembers()]
    assert facts[-2:] == [(f"./usr/{name}", 0o755, 0, int(make_image.EPOCH)) for name in ("a", "b")]


def test_the_image_has_what_the_plugin_asks() -> None:
    files = make_image.program_files()
    assert make_image.PLUGIN.endswith("/plugin.yaml")
    assert make_image.PLUGIN in plugin.DOCKERFILE
    assert f"USER {make_image.USER}\n" in plugin.DOCKERFILE
    assert "kind: ConfigManagementPlugin" in files[make_image.PLUGIN]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    module, function = project["scripts"]["llmaz"].split(":")
    assert f"from {module} import {function}\n\n{function}()\n" in files["usr/local/bin/llmaz"]
