"""What an engine's pod has beside its runner: files, writable volumes, and steps before it starts.

The preset says so (`engine.files`, `volumes`, `initContainers`; design/presets.md). Files become the ConfigMap
`<name>-config`; its hash is an annotation of the pod, since an edited ConfigMap alone restarts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from renderer.api import Config
from renderer.plan import Body, Container, config_name
from renderer.problems import Origin
from renderer.records import NamedTuple
from renderer.resolve import images
from renderer.resolve.engines import Engine
from renderer.template import Words
from renderer.yamlio import Shared

HASH = "llmaz.io/config-hash"
_VOLUME = "config"


class Prepared(NamedTuple):
    """`config`: the ConfigMap's data; `steps`: init containers, one without an image being the runner's own."""

    config: Mapping[str, str] = {}
    annotations: Body = {}
    mounts: tuple[Body, ...] = ()
    volumes: tuple[Body, ...] = ()
    steps: tuple[Container, ...] = ()


NOTHING = Prepared()


def prepared(config: Config, app: str, engine: Engine, words: Words) -> Prepared:
    """What holds for these words. Raises TemplateError."""
    if not (engine.files or engine.steps or engine.volumes):
        return NOTHING
    mounts: list[Body] = [Shared({"name": name, "mountPath": path}) for name, path in engine.volumes]
    volumes: list[Body] = [Shared({"name": name, "emptyDir": Shared({})}) for name, _ in engine.volumes]
    held = {each.path: each for each in engine.files if each.when(words)}
    data = {each.key: str(each.content(words)) for each in held.values()}
    if data:
        volumes.append({"name": _VOLUME, "configMap": {"name": config_name(app)}})
        mounts += [
            Shared({"name": _VOLUME, "mountPath": path, "subPath": each.key, "readOnly": True})
            for path, each in held.items()
        ]
    steps = tuple(
        Container(
            name=each.name,
            image=images.reference(config, each.image) if each.image else "",
            command=tuple(each.command(words)),
            args=tuple(each.args(words)),
        )
        for each in engine.steps
        if each.when(words)
    )
    return Prepared(data, {HASH: hashed(data)} if data else {}, tuple(mounts), tuple(volumes), steps)


def places(engine: Engine, words: Words) -> Iterator[tuple[str, Origin]]:
    """Where the content of each file stands."""
    for i, each in enumerate(engine.files):
        if each.when(words):
            yield each.key, engine.origin.at("engine", "files", i, "content")


def hashed(data: Mapping[str, str]) -> str:
    """Sixteen digits that change with any key or text."""
    import hashlib  # few runs need it

    parts = (f"{len(text)}:{text}" for item in sorted(data.items()) for text in item)
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]
