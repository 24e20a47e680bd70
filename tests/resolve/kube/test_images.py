"""Images as RenderConfig wants them fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from renderer import yamlio
from renderer.api import BackendRuntime, RenderConfig
from renderer.diagnostics import NamedSource, Origin
from renderer.load.preset_files import preset, preset_names
from renderer.resolve.engine import compilation
from renderer.resolve.kube.images import image_reference, invalid_image, is_image, with_tag

if TYPE_CHECKING:
    from renderer.input_types import RenderConfigSpec


DIGEST = f"sha256:{'0' * 64}"
MIRRORS = {"docker.io": "mirror.example/hub", "ghcr.io": "mirror.example/ghcr/", "localhost:5000": "mirror.example/l"}


def resolve_image(image: str, **images: Any) -> str:
    (document,), _ = yamlio.parse("llmaz.yaml", b"kind: RenderConfig\n")
    return image_reference(
        RenderConfig(cast("RenderConfigSpec", {"images": images} if images else {}), document), image
    )


@pytest.mark.parametrize(
    ("image", "mirrored"),
    [
        ("org/engine:v1", "mirror.example/hub/org/engine:v1"),
        ("a/b/c:v1", "mirror.example/hub/a/b/c:v1"),
        ("docker.io/org/engine:v1", "mirror.example/hub/org/engine:v1"),
        ("busybox", "mirror.example/hub/library/busybox"),
        ("busybox:1", "mirror.example/hub/library/busybox:1"),
        ("ghcr.io/org/engine:v1", "mirror.example/ghcr/org/engine:v1"),
        (f"ghcr.io/org/engine@{DIGEST}", f"mirror.example/ghcr/org/engine@{DIGEST}"),
        ("localhost:5000/x", "mirror.example/l/x"),
        ("localhost/x", "localhost/x"),
        ("quay.io/org/engine:v1", "quay.io/org/engine:v1"),
        ("notghcr.io/x", "notghcr.io/x"),
    ],
)
def test_mirrors(image: str, mirrored: str) -> None:
    assert resolve_image(image, mirrors=MIRRORS) == mirrored
    assert resolve_image(image) == image


def test_a_mirror_of_another_registry_mirrors_nothing() -> None:
    assert resolve_image("org/engine:v1", mirrors={"ghcr.io": "m"}) == "org/engine:v1"
    assert resolve_image("org/engine:v1", mirrors={"org": "m"}) == "org/engine:v1"  # a user of docker.io, no registry


SAME = (
    *("busybox:1", "library/busybox:1", "docker.io/busybox:1", "docker.io/library/busybox:1"),
    "index.docker.io/busybox:1",
)


@pytest.mark.parametrize("key", SAME)
@pytest.mark.parametrize("image", SAME)
def test_one_image_has_many_names(image: str, key: str) -> None:
    assert resolve_image(image, digests={key: DIGEST}) == f"{image}@{DIGEST}"
    for hub in ("docker.io", "index.docker.io"):
        assert (
            resolve_image(image, mirrors={hub: "m.example"}, digests={key: DIGEST})
            == f"m.example/library/busybox:1@{DIGEST}"
        )


def judged(value: str, form: str) -> list[str]:
    return [problem.code for problem in invalid_image(value, form, Origin(NamedSource("x")))]


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        (
            "image",
            ["a", "a:v1", "a/b", "a.example:5000/b/c_d__e--f.g:v1", f"a@{DIGEST}", f"a:v1@{DIGEST}", "A.b/c"],
            ["", "a b", ":1", "a:", "A", "a/B:1", "https://a/b:1", "a:v1:v2", "a@sha256:0", "a:v1 ", "a//b", "-a"],
        ),
        ("repository", ["a", "a/b", "a.example:5000/b"], ["a:v1", f"a@{DIGEST}", "a/", "a b", "a/B"]),
        (
            "tag",
            ["v1", "1.2_3-A", DIGEST, f"v1@{DIGEST}"],
            ["", "a/b:v1", "v1 ", "v1@sha256:0", "v1+cu", "é", "-v", "a" * 129],
        ),
    ],
)
def test_what_is_a_reference(form: str, good: list[str], bad: list[str]) -> None:
    assert [value for value in good if judged(value, form)] == []
    assert [value for value in bad if judged(value, form) != ["E298"]] == []


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("org/engine:v1", f"org/engine:v1@{DIGEST}"),
        ("org/engine:v2", "org/engine:v2"),
        ("org/engine", "org/engine"),
        ("docker.io/org/engine:v1", f"docker.io/org/engine:v1@{DIGEST}"),  # the same image
        ("ghcr.io/org/engine:v1", "ghcr.io/org/engine:v1"),
    ],
)
def test_digests(image: str, expected: str) -> None:
    assert resolve_image(image, digests={"org/engine:v1": DIGEST}) == expected


def test_a_digest_stays_with_its_image_behind_a_mirror() -> None:
    pinned = resolve_image("org/engine:v1", digests={"org/engine:v1": DIGEST}, mirrors=MIRRORS)
    assert pinned == f"mirror.example/hub/org/engine:v1@{DIGEST}"


def test_an_image_keeps_the_digest_that_it_has() -> None:
    image = f"org/engine@{DIGEST}"
    assert resolve_image(image, digests={image: "sha256:other"}) == image


@pytest.mark.parametrize(
    ("image", "tag", "expected"),
    [
        ("org/engine", "v1", "org/engine:v1"),
        ("localhost:5000/engine", "v1", "localhost:5000/engine:v1"),
        ("org/engine", DIGEST, f"org/engine@{DIGEST}"),
        ("org/engine", f"v1@{DIGEST}", f"org/engine:v1@{DIGEST}"),
        ("org/engine:v1", "", "org/engine:v1"),
    ],
)
def test_tagged(image: str, tag: str, expected: str) -> None:
    assert with_tag(image, tag) == expected


@pytest.mark.parametrize("name", preset_names("backends"))
def test_those_of_presets_are_images(name: str) -> None:
    """Nobody looks at them in a run."""
    document = preset(f"backends/{name}")
    runtime = BackendRuntime(name, document.value["spec"], document, ours=True)
    assert list(compilation._invalid_images(runtime)) == []


# What github.com/distribution/reference v0.6.0 (ParseNormalizedNamed) says of each.
HEX = "a" * 64
ACCEPTED = (
    "busybox", "busybox:1", "ghcr.io/x/y", "ghcr.io", "Ghcr.IO/x/y:T.a-g", f"x@sha256:{HEX}", f"x:t@sha256:{HEX}",
    f"x@sha384:{'1' * 96}", f"x@sha512:{'0' * 128}", f"{HEX}:v", "[::1]:5000/x", "[::1]/x", "localhost/x",
    "localhost:5000/x:v", "host:5000", "host:5000/x", "x_y/z", "x__y", "x--y", "x.y", "foo_bar.com/x", f"x:{'t' * 128}",
    f"ghcr.io/{'a' * 255}", "a" * 247, "docker.io/x", "index.docker.io/x", f"docker.io/{'a' * 247}", "ghcr.io:443/x",
    "1.2.3.4/x", "EVIL/x", "a.b", "a.b:5", "A.b/c",
)  # fmt: skip
REFUSED = (
    "", " ", "ghcr.io/x/../evil", "ghcr.io/x/y ", " x", "x\n", "x\ty", "x:v\n", "ghcr.io/", "ghcr.io/x/", "/x", "x//y",
    "X", "x/Y", "ghcr.io/X", "x:", "x@", f"x@sha256:{'A' * 64}", f"x@sha256:{'0' * 63}", f"x@md5:{'0' * 32}", HEX,
    f"x@sha256:{HEX}@sha256:{HEX}", "[fe80::1%eth0]/x", "[::ffff:1.2.3.4]/x", "a:b/c", "x___y", "-x", "x-", "x..y",
    f"x:{'t' * 129}", f"ghcr.io/{'a' * 256}", "a" * 248, f"docker.io/{'a' * 248}", "http://ghcr.io/x", "ghcr.io:/x",
    "x:-t", ":t", "x:t:u", "ghcr.io\\x", "ghcr.io/x%2f..", "ghcr.io/./x", "x:ä", "é", "a-.b/c", "a.-b/c", "{{x}}",
    "${X}", "x:$(T)",
)  # fmt: skip


@pytest.mark.parametrize("image", ACCEPTED)
def test_what_runtimes_take_for_an_image(image: str) -> None:
    assert is_image(image)


@pytest.mark.parametrize("image", REFUSED)
def test_what_runtimes_take_for_no_image(image: str) -> None:
    assert not is_image(image)
