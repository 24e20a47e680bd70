"""The files of an adopted tree: one for each object, which no program reads as something else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from renderer.adopt.free_names import FreeNames
from renderer.diff.live.takeovers import LATER
from renderer.kubernetes.json_values import text_at
from renderer.source.kustomizations import KUSTOMIZATIONS
from renderer.source.paths import CONFIG, POLICY
from renderer.source.tree import PACKAGE_FOLDERS

EXTRA: Final = "extra"
"""The folder of objects that stay as they are."""
_OUTPUT = "rendered"  # the folder of the output, where llmaz.yaml names none
_DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10))}
# What a program reads as its own, or Windows has a device of.
_RESERVED = _DEVICES | {name.lower().removesuffix(".yaml") for name in (*KUSTOMIZATIONS, CONFIG, POLICY)}
_FOLDERS = {EXTRA, LATER, _OUTPUT, *PACKAGE_FOLDERS}
_LONGEST = 200  # characters of a name, of the 255 bytes that file systems take


class FileNames:
    """Gives each object a file of its own. Names and namespaces have to be some that Kubernetes takes."""

    def __init__(self) -> None:
        self._names: dict[str, FreeNames] = {}  # by folder
        self._folders = FreeNames(_FOLDERS)
        self._folder_of: dict[str, str] = {}

    def of_workload(self, namespace: str, name: str) -> str:
        """The file of a workload, called after it: in a folder of its namespace, where one is given."""
        return self._file(f"{name}-playground" if name in _RESERVED else name, self._folder(namespace))

    def of_object(self, body: Mapping[str, Any], folder: str = "") -> str:
        """The file of another object, called after its kind, namespace and name."""
        parts = (text_at(body, "kind").lower(), *(text_at(body, "metadata", key) for key in ("namespace", "name")))
        return self._file("-".join(filter(None, parts)), folder)

    def _folder(self, namespace: str) -> str:
        if namespace and namespace not in self._folder_of:
            is_free = namespace not in _FOLDERS | _RESERVED
            self._folder_of[namespace] = self._folders.take(namespace if is_free else f"namespace-{namespace}")
        return self._folder_of.get(namespace, "")

    def _file(self, name: str, folder: str) -> str:
        free = self._names.setdefault(folder, FreeNames()).take(name[:_LONGEST].rstrip(".-"))
        return f"{folder}/{free}.yaml" if folder else f"{free}.yaml"
