"""The type of the accelerators that a flavor's nodes have, by its name or by what their labels say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial

from msgspec import Struct

from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at, texts_at

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_SHARED = "-SHARED"
_PART = "-MIG-"


class AcceleratorType(Struct, frozen=True):
    """A type of accelerators, a row of presets/accelerator_types.yaml."""

    name: str
    vendor: str
    memory_gib: float  # that the driver gives a process
    fp8: bool = False  # it multiplies in 8 bits itself
    fp4: bool = False


class AcceleratorTypes:
    """All types, by name and by labels of nodes."""

    def __init__(self, spec: Mapping[str, object], families: Sequence[Mapping[str, object]]) -> None:
        """`spec`: of presets/accelerator_types.yaml; `families`: of presets/instances.yaml."""
        self._rows = rows = maps_at(spec, "types")
        self._labels = map_at(spec, "labels")
        self._families = {text_at(family, "family"): family for family in families}
        self.by_name = {text_at(row, "name"): _type(row) for row in rows}
        self._readers: dict[str, Callable[[Mapping[str, str]], AcceleratorType | None]] = {
            text_at(self._labels, "gke"): self._read_gke,
            text_at(self._labels, "product"): self._read_product,
            INSTANCE_TYPE: self._read_instance,
        }
        for key in texts_at(self._labels, "karpenter"):
            self._readers[f"{key}-name"] = partial(self._read_karpenter, key)

    def of_labels(self, labels: Mapping[str, str]) -> AcceleratorType | None:
        """The type of nodes with these labels; None where no label tells, or two tell different ones."""
        names = {known.name for key, find in self._readers.items() if key in labels and (known := find(labels))}
        return self.by_name[names.pop()] if len(names) == 1 else None

    def _read_gke(self, labels: Mapping[str, str]) -> AcceleratorType | None:
        value = labels[text_at(self._labels, "gke")]
        return self._only(row for row in self._rows if value in texts_at(row, "gke"))

    def _read_product(self, labels: Mapping[str, str]) -> AcceleratorType | None:
        value = labels[text_at(self._labels, "product")]
        if _PART in value:
            return None
        name = value.removesuffix(_SHARED)
        return self._only(
            row for row in self._rows if any(fnmatchcase(name, part) for part in texts_at(row, "product"))
        )

    def _read_instance(self, labels: Mapping[str, str]) -> AcceleratorType | None:
        """Of an instance type of EC2, such as p5.48xlarge."""
        family = self._families.get(labels[INSTANCE_TYPE].partition(".")[0], {})
        return self._of_karpenter(text_at(family, "name"), str(family.get("memory", "")))

    def _read_karpenter(self, key: str, labels: Mapping[str, str]) -> AcceleratorType | None:
        return self._of_karpenter(labels[f"{key}-name"], labels.get(f"{key}-memory", ""))

    def _of_karpenter(self, name: str, memory: str) -> AcceleratorType | None:
        """Of a name; where two types have it, of that with the memory in MiB."""
        rows = [row for row in self._rows if name and text_at(row, "karpenter", "name") == name]
        exact = [row for row in rows if str(map_at(row, "karpenter").get("memory")) == memory]
        return self._only(exact if memory else rows)

    def _only(self, rows: Iterable[Mapping[str, object]]) -> AcceleratorType | None:
        """The type of the one row; None for none and for several."""
        listed = list(rows)
        return self.by_name[text_at(listed[0], "name")] if len(listed) == 1 else None


def _type(row: Mapping[str, object]) -> AcceleratorType:
    return AcceleratorType(
        text_at(row, "name"),
        text_at(row, "vendor"),
        number_at(row, "memoryGiB"),
        bool(row.get("fp8")),
        bool(row.get("fp4")),
    )
