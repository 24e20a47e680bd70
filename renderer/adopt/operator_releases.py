"""What the releases of the llmaz operator ran, from presets/operator_releases.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from renderer.api import BackendRuntime
from renderer.engines.image_version import version_of_tag
from renderer.engines.option_lists import read_option_list
from renderer.load.option_lists import OptionListReader
from renderer.load.preset_files import preset


class FormerImage(Struct, frozen=True):
    """The image of the operator's own preset of an engine."""

    image: str
    tag: str
    until: str = ""  # the last release with it; '' for all later ones
    moves: bool = False  # the tag names no version


class FormerBackend(Struct, frozen=True):
    """The operator's own preset of an engine, where it differs from ours."""

    name: str
    ran: Sequence[FormerImage]  # the oldest release first
    valued: Mapping[str, str] = {}  # options that stood alone, and the value that they take today
    configs: Mapping[str, str] = {}  # its configurations that ours does not have, and why none is needed

    def images_in(self, release: str) -> Sequence[FormerImage]:
        """What it ran in a release; in all releases where that is ''."""
        if not release:
            return self.ran
        releases = release_names()
        number = releases.index(release)
        return [next(image for image in self.ran if not image.until or number <= releases.index(image.until))]

    def tag_in(self, release: str) -> str:
        """The tag that it ran in a release, if our preset runs that version of that image and knows its options; else
        ''.
        """
        image = self.images_in(release)[0]
        return image.tag if release and not image.moves and _is_known(self.name, image) else ""


def release_names() -> list[str]:
    """The releases of the operator, the oldest first."""
    return list(_spec()["releases"])


def default_backend() -> str:
    """The backend of a Playground that names none."""
    return str(_spec()["backend"])


@cache
def former_backends() -> Mapping[str, FormerBackend]:
    """The operator's own presets, by name."""
    return {
        name: FormerBackend(
            name,
            [FormerImage(**image) for image in entry["ran"]],
            entry.get("valued", {}),
            entry.get("configs", {}),
        )
        for name, entry in _spec()["backends"].items()
    }


def _spec() -> Mapping[str, Any]:
    spec: Mapping[str, Any] = preset("operator_releases").value["spec"]
    return spec


@cache
def _is_known(backend: str, image: FormerImage) -> bool:
    """Whether our preset runs the image, and the options of that version are listed."""
    document = preset(f"backends/{backend}")
    runtime = BackendRuntime(backend, document.value["spec"], document, ours=True)
    version = version_of_tag(runtime.spec["engine"], image.tag, trusted=True)
    return runtime.spec["image"] == image.image and bool(read_option_list(OptionListReader(), runtime, version))
