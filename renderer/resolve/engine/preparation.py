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


def prepare(
    config: RenderConfig,
    app: str,
    engine: Engine,
    words: Words,
    template: ChatTemplate | None,
    model_file: tuple[str, str] | None,
) -> Preparation:
    """The files, volumes and init containers for these words. `model_file`: path and text of a file beside those of the
    preset. Raises TemplateError.
    """
    if not (engine.files or engine.steps or engine.volumes or template or model_file):
        return NO_PREPARATION
    mounts: list[Body] = [SharedMap({"name": volume.name, "mountPath": volume.path}) for volume in engine.volumes]
    volumes: list[Body] = [SharedMap({"name": volume.name, "emptyDir": SharedMap({})}) for volume in engine.volumes]
    chosen = {file.path: file for file in engine.files if file.when(words)}
    files = {path: (file.key, str(file.content(literal_words(words)))) for path, file in chosen.items()}
    if model_file:
        path, text = model_file
        files[path] = posixpath.basename(path), text
    data = dict(files.values())
    file_mounts: list[Body] = [
        SharedMap({"name": CONFIG_VOLUME, "mountPath": path, "subPath": key, "readOnly": True})
        for path, (key, _) in files.items()
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


def config_hash(data: Mapping[str, str]) -> str:
    """A hash of all keys and texts: 16 hexadecimal digits."""
    import hashlib  # few runs need it

    parts = (f"{len(text)}:{text}" for item in sorted(data.items()) for text in item)
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]
