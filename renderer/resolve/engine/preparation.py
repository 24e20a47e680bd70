"""What an engine's pod has beside its runner: files, writable volumes, and steps before it starts.

The preset says so (`engine.files`, `volumes`, `initContainers`; docs/design/presets.md#files). Files become the
ConfigMap `<name>-config`; its hash is an annotation of the pod, since an edited ConfigMap alone restarts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from renderer.api import RenderConfig
from renderer.diagnostics import Origin
from renderer.plan import Body, Container, config_name
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.kube import images
from renderer.template import Words
from renderer.yamlio import SharedMap

HASH = "llmaz.io/config-hash"
_VOLUME = "config"


class Preparation(Struct, frozen=True):
    """`config`: the ConfigMap's data; `steps`: init containers, one without an image being the runner's own."""

    config: Mapping[str, str] = {}
    annotations: Body = {}
    mounts: tuple[Body, ...] = ()
    volumes: tuple[Body, ...] = ()
    steps: tuple[Container, ...] = ()


NOTHING = Preparation()


def preparation(config: RenderConfig, app: str, engine: Engine, words: Words) -> Preparation:
    """What holds for these words. Raises TemplateError."""
    if not (engine.files or engine.steps or engine.volumes):
        return NOTHING
    mounts: list[Body] = [SharedMap({"name": name, "mountPath": path}) for name, path in engine.volumes]
    volumes: list[Body] = [SharedMap({"name": name, "emptyDir": SharedMap({})}) for name, _ in engine.volumes]
    held = {file.path: file for file in engine.files if file.when(words)}
    data = {file.key: str(file.content(words)) for file in held.values()}
    if data:
        volumes.append({"name": _VOLUME, "configMap": {"name": config_name(app)}})
        mounts += [
            SharedMap({"name": _VOLUME, "mountPath": path, "subPath": file.key, "readOnly": True})
            for path, file in held.items()
        ]
    steps = tuple(
        Container(
            name=step.name,
            image=images.reference(config, step.image) if step.image else "",
            command=tuple(step.command(words)),
            args=tuple(step.args(words)),
        )
        for step in engine.steps
        if step.when(words)
    )
    return Preparation(data, {HASH: hashed(data)} if data else {}, tuple(mounts), tuple(volumes), steps)


def file_origins(engine: Engine, words: Words) -> Iterator[tuple[str, Origin]]:
    """Where the content of each file stands."""
    for i, file in enumerate(engine.files):
        if file.when(words):
            yield file.key, engine.origin.at("engine", "files", i, "content")


def hashed(data: Mapping[str, str]) -> str:
    """Sixteen digits that change with any key or text."""
    import hashlib  # few runs need it

    parts = (f"{len(text)}:{text}" for item in sorted(data.items()) for text in item)
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]
