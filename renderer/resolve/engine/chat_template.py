"""The chat template of an app (`chatTemplate`): a file of the tree, or a key of a ConfigMap
(docs/models.md#chat-templates).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from renderer.api import TemplateFiles, TreeFile
from renderer.diagnostics import Origin, Path
from renderer.plan import Body
from renderer.resolve.layers import ValueLayer
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import ChatTemplateSpec

FIELD: Final = "chatTemplate"
KEY: Final = "chat-template.jinja"
"""The key of a file in the ConfigMap of the app, and its name in the pod."""
VOLUME: Final = "chat-template"
"""The volume of a ConfigMap that exists."""
MOUNT_PATH: Final = f"/etc/llmaz/{KEY}"


class ChatTemplate(Struct, frozen=True):
    """A template that engines use in place of the model's own."""

    spec: ChatTemplateSpec
    origin: Origin
    file: TreeFile | None  # None for a key of a ConfigMap

    @property
    def source(self) -> Origin:
        """Where the text is named."""
        return self.origin.at("file") if self.file else self.origin.at("configMap")

    @property
    def volumes(self) -> tuple[Body, ...]:
        """The volume of its ConfigMap, where it exists already."""
        if self.file:
            return ()
        named = self.spec["configMap"]
        items = [{"key": named["key"], "path": KEY}]  # without the key the pod waits, and its events say so
        return (SharedMap({"name": VOLUME, "configMap": {"name": named["name"], "items": items}}),)

    def mount(self, volume: str) -> Body:
        """Where the engine reads it."""
        return SharedMap({"name": volume, "mountPath": MOUNT_PATH, "subPath": KEY, "readOnly": True})

    def origins(self) -> Iterator[tuple[Path, Origin]]:
        """The origins of the fields of its volume."""
        named = self.origin.at("configMap")
        yield (), named
        yield ("configMap", "name"), named.at("name")
        yield ("configMap", "items", 0, "key"), named.at("key")


def find_chat_template(files: TemplateFiles | None, layers: Sequence[ValueLayer]) -> ChatTemplate | None:
    """The template of the last layer; None without one."""
    if not layers:
        return None
    spec, origin = layers[-1].value, layers[-1].origin
    return ChatTemplate(spec, origin, read_file(files, spec, origin))


def read_file(files: TemplateFiles | None, spec: ChatTemplateSpec, origin: Origin) -> TreeFile | None:
    """The file that a template is in, as the tree has it; None for a key of a ConfigMap."""
    if not (path := spec.get("file")):
        return None
    return files.read(path, origin.at("file").behind[0].name) if files else TreeFile(path)
