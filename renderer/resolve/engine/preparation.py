"""Files, writable volumes and init containers of an engine's pod (`engine.files`, `volumes`, `initContainers` of the
preset; docs/design/presets.md#files), and its chat template.

Files become the ConfigMap `<name>-config`. Its hash is an annotation of the pod, since a changed ConfigMap alone does
not restart pods.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import RenderConfig
from renderer.kubernetes import wellknown
from renderer.plan import Body, Container
from renderer.resolve.container_words import literal_words
from renderer.resolve.engine import chat_template
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.chat_template import ChatTemplate
from renderer.resolve.kube import images
from renderer.template import Words
from renderer.yamlio import SharedMap

HASH = "llmaz.io/config-hash"
CONFIG_VOLUME: Final = "config"
"""The volume of the files."""


class Preparation(Struct, frozen=True):
    """What a runner needs beside itself."""

    config: Mapping[str, str] = {}  # data of the ConfigMap
    annotations: Body = {}
    mounts: tuple[Body, ...] = ()
    volumes: tuple[Body, ...] = ()
    steps: tuple[Container, ...] = ()  # init containers, without an image where it is the runner's


NO_PREPARATION = Preparation()


def prepare(config: RenderConfig, app: str, engine: Engine, words: Words, template: ChatTemplate | None) -> Preparation:
    """The files, volumes and init containers for these words. Raises TemplateError."""
    if not (engine.files or engine.steps or engine.volumes or template):
        return NO_PREPARATION
    mounts: list[Body] = [SharedMap({"name": volume.name, "mountPath": volume.path}) for volume in engine.volumes]
    volumes: list[Body] = [SharedMap({"name": volume.name, "emptyDir": SharedMap({})}) for volume in engine.volumes]
    files = {file.path: file for file in engine.files if file.when(words)}
    data = {file.key: str(file.content(literal_words(words))) for file in files.values()}
    file_mounts: list[Body] = [
        SharedMap({"name": CONFIG_VOLUME, "mountPath": path, "subPath": file.key, "readOnly": True})
        for path, file in files.items()
    ]
    if template and template.file:
        data[chat_template.KEY] = template.file.text
        file_mounts.append(template.mount(CONFIG_VOLUME))
    elif template:
        file_mounts.append(template.mount(chat_template.VOLUME))
    if data:
        volumes.append({"name": CONFIG_VOLUME, "configMap": {"name": app + wellknown.CONFIG_MAP}})
    volumes += template.volumes if template else ()
    mounts += file_mounts
    steps = tuple(
        Container(
            name=step.name,
            image=images.image_reference(config, step.image) if step.image else "",
            command=tuple(step.command(words)),
            args=tuple(step.args(words)),
        )
        for step in engine.steps
        if step.when(words)
    )
    return Preparation(data, {HASH: config_hash(data)} if data else {}, tuple(mounts), tuple(volumes), steps)


def with_file(setup: Preparation, app: str, path: str, text: str) -> Preparation:
    """What the runner needs with one more file."""
    key = posixpath.basename(path)
    data = {**setup.config, key: text}
    mount = SharedMap({"name": CONFIG_VOLUME, "mountPath": path, "subPath": key, "readOnly": True})
    volume = {"name": CONFIG_VOLUME, "configMap": {"name": app + wellknown.CONFIG_MAP}}
    return replace(
        setup,
        config=data,
        annotations={**setup.annotations, HASH: config_hash(data)},
        mounts=(*setup.mounts, mount),
        volumes=setup.volumes if setup.config else (*setup.volumes, volume),
    )


def config_hash(data: Mapping[str, str]) -> str:
    """A hash of all keys and texts: 16 hexadecimal digits."""
    import hashlib  # few runs need it

    parts = (f"{len(text)}:{text}" for item in sorted(data.items()) for text in item)
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]
