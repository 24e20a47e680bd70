"""The type of the accelerators that a flavor's nodes have, by its name or by what their labels say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, partial

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics import ReplacingHint, meant_name, meant_names, suggestion
from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at, texts_at
from renderer.preset_tables import preset_table
from renderer.text.suggestions import within_letters

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_SHARED = "-SHARED"
_PART = "-MIG-"
_ALONE = ("none", "1")  # what labels say of a card that nobody shares
_PROFILE = r"([0-9]+g\.[0-9]+gb)([.+-](me|gfx|me[.]all))?"  # of an instance, and its media and graphics
_COMMON_NAME = r"(?:(?:{})-)*([a-z0-9-]+?)(?:-[0-9]+gb?)?"  # what people call a type, behind brands
_INSTANCE = r"[a-z0-9-]+\.(?:nano|micro|small|medium|[0-9]*x?large|metal(?:-[0-9]+xl)?)"  # how EC2 names its types
_ALIKE = 1.05  # memory of two cards' instances that counts as the same: what is within 5 % nobody knows (docs/fit.md)


class AcceleratorType(Struct, frozen=True):
    """A type of accelerators, a row of presets/accelerator_types.yaml; or a part of one, as pods get it."""

    name: str
    vendor: str
    memory_gib: float  # that the driver gives a process
    fp8: bool = False  # it multiplies in 8 bits itself
    fp4: bool = False
    capability: float = 0  # the compute capability of CUDA, 0 where it has none or nobody says it
    per_machine: int = 0  # how many the largest machine of a cloud with them has, 0 where that is not known
    is_instance: bool = False  # of a divided card: several cannot serve one model together


class AcceleratorTypes:
    """All types, by name and by labels of nodes."""

    def __init__(self, spec: Mapping[str, object], families: Callable[[], Sequence[Mapping[str, object]]]) -> None:
        """`spec`: of presets/accelerator_types.yaml; `families`: reads those of presets/instances.yaml."""
        self._rows = rows = maps_at(spec, "types")
        self._parts = maps_at(spec, "parts")
        self._of_labels: dict[tuple[tuple[str, str], ...], AcceleratorType | None] = {}  # a cache
        self._largest: dict[str, AcceleratorType | None] = {}  # a cache, by vendor
        self._labels = map_at(spec, "labels")
        self._product = text_at(self._labels, "product")
        self._partition = text_at(self._labels, "partition")
        self.gke_label = text_at(self._labels, "gke")
        self._sharing = texts_at(self._labels, "shared")
        self._families = families
        self.by_name = {text_at(row, "name"): _type(row) for row in rows}
        self._readers: dict[str, Callable[[Mapping[str, str]], AcceleratorType | None]] = {
            self.gke_label: self._read_gke,
            self._product: self._read_product,
            INSTANCE_TYPE: self._read_instance,
        }
        for key in texts_at(self._labels, "karpenter"):
            self._readers[f"{key}-name"] = partial(self._read_karpenter, key)

    def largest(self, vendor: str) -> AcceleratorType | None:
        """The type of a vendor with the most memory; None where no type of it is known."""
        if vendor not in self._largest:
            types = [known for known in self.by_name.values() if known.vendor == vendor]
            self._largest[vendor] = max(types, key=lambda known: known.memory_gib, default=None)
        return self._largest[vendor]

    def of_labels(self, labels: Mapping[str, str]) -> AcceleratorType | None:
        """The type of the whole cards of nodes with these labels; None where no label tells, or two tell different
        ones.
        """
        key = tuple(labels.items())
        if key not in self._of_labels:
            names = set(self.by_label(labels).values())
            self._of_labels[key] = self.by_name[names.pop()] if len(names) == 1 else None
        return self._of_labels[key]

    def by_label(self, labels: Mapping[str, str]) -> dict[str, str]:
        """The types that the labels of nodes tell, each by the key of the label."""
        found_types = {name: find(labels) for name, find in self._readers.items() if name in labels}
        return {name: known.name for name, known in found_types.items() if known}

    def vendor_of_label(self, key: str, value: str) -> str:
        """The vendor of the accelerators of nodes with a label; '' where it does not tell."""
        if known := self.by_label({key: value}):
            return self.by_name[known[key]].vendor
        vendors = map_at(self._labels, "vendors")
        is_one = value.lower() not in ("false", "0")
        return next((str(vendor) for prefix, vendor in vendors.items() if is_one and key.startswith(prefix)), "")

    def names_on_nodes(self, key: str, value: str) -> list[str]:
        """What nodes call the types of accelerators, or the instance type, that a value of a label means by the name
        that people use, or by a misspelt one; none for a value that nodes may have.
        """
        if key == INSTANCE_TYPE:
            return [] if re.fullmatch(_INSTANCE, value) else _misspelt(value, self._instances())
        if key not in self._readers or self.by_label({key: value}):
            return []
        common_name = _COMMON_NAME.format("|".join(texts_at(self._labels, "brands")))
        match = re.fullmatch(common_name, value.lower().replace("_", "-").replace(" ", "-"))
        meant_rows = [row for row in self._rows if match and _bare_name(row) == match[1]]
        names = [name for row in meant_rows for name in self._names(key, row)]
        if not names:
            names = _misspelt(value, [name for row in self._rows for name in self._names(key, row) if "*" not in name])
        return [name for name in dict.fromkeys(names) if "*" not in name and name != value]

    def _instances(self) -> list[str]:
        """The instance types with accelerators that we know."""
        return [
            f"{text_at(family, 'family')}.{size}" for family in self._families() for size in map_at(family, "counts")
        ]

    def _names(self, key: str, row: Mapping[str, object]) -> Sequence[str]:
        """What a label of nodes says of a type."""
        if key == self.gke_label:
            return texts_at(row, "gke")
        if key == self._product:
            return texts_at(row, "product")
        return [text_at(row, "karpenter", "name")] if "karpenter" in row else []

    def hint(self, word: str) -> str:
        """Which types a word may mean that is the name of none: those that nodes call so, or whose names hold it."""
        upper = word.upper()
        labelled = [
            text_at(row, "name")
            for row in self._rows
            if upper in (text.upper() for text in texts_at(row, "gke"))
            or any(fnmatchcase(upper, part.upper()) for part in texts_at(row, "product"))
        ]
        if labelled:
            return meant_names(word, labelled)
        names = sorted(self.by_name)
        if whole_names := [name for name in names if name.startswith(f"{word.lower()}-")]:
            return meant_names(word, whole_names)
        if close := within_letters(word.lower(), names, 2):
            return meant_name(word, close)
        known = {part for name in names for part in name.split("-")}
        parts = [part for part in re.split(r"[-_ ]", word.lower()) if part in known]
        hint = suggestion(parts[0] if len(parts) == 1 else word, names)
        return ReplacingHint(hint, word, hint.new) if isinstance(hint, ReplacingHint) else hint

    def profile_of_labels(self, labels: Mapping[str, str]) -> str:
        """The profile of the instances into which cards of nodes with these labels are divided; '' for whole cards."""
        if profile := labels.get(self._partition, ""):
            return profile
        return labels.get(self._product, "").partition(_PART)[2]

    def are_shared(self, labels: Mapping[str, object]) -> bool:
        """Whether pods on nodes with these labels share a card in turns, so that nobody knows what is left for one."""
        if self._product in labels and str(labels[self._product]).endswith(_SHARED):
            return True
        return any(str(labels[key]) not in _ALONE for key in self._sharing if key in labels)

    def take_turns(self, labels: Mapping[str, object]) -> bool:
        """Whether they do, and each may take all of the memory in its turn: MPS gives each its part."""
        return self.are_shared(labels) and "mps" not in (labels.get(key) for key in self._sharing)

    def instance(self, profile: str, card: AcceleratorType | None) -> AcceleratorType | None:
        """The instance of a divided card; None for a profile that nobody knows, and for one that several cards have
        with different memory where the card is not known.
        """
        if not (match := re.fullmatch(_PROFILE, profile)):
            return None
        sizes = {text_at(row, "card"): number_at(row, "memoryGiB", match[1]) for row in self._parts}
        known = [size for size in sizes.values() if size]
        size = (sizes.get(card.name) if card else 0) or max(known, default=0)
        if not size or (not (card and sizes.get(card.name)) and size > min(known) * _ALIKE):
            return None
        name = f"mig-{match[1]}"
        if card:
            return replace(card, name=name, memory_gib=size, is_instance=True)
        return AcceleratorType(name, "", size, is_instance=True)

    def missing_instance(self, profile: str, card: AcceleratorType) -> list[str] | None:
        """The profiles into which a card can be divided, where a profile is none of them; None where it is one, and
        where nobody knows them.
        """
        row = next((row for row in self._rows if text_at(row, "name") == card.name), {})
        match = re.fullmatch(_PROFILE, profile)
        profiles = texts_at(row, "mig")
        return profiles if "mig" in row and match and match[1] not in profiles else None

    def most_on_node(self, labels: Mapping[str, str]) -> dict[str, int]:
        """How many whole cards and CPUs a node of GKE with these labels has at most, by resource; empty where nobody
        knows.
        """
        value = labels.get(self.gke_label, "")
        rows = [row for row in self._rows if value in texts_at(row, "gke")]
        keys = {text_at(self._labels, "gkeResource"): "gkeMost", "cpu": "gkeCpus"}
        if self.profile_of_labels(labels) or self.are_shared(labels):
            del keys[text_at(self._labels, "gkeResource")]
        most = {name: max((int(number_at(row, key)) for row in rows), default=0) for name, key in keys.items()}
        return {name: number for name, number in most.items() if number}

    def _read_gke(self, labels: Mapping[str, str]) -> AcceleratorType | None:
        value = labels[self.gke_label]
        return self._only(row for row in self._rows if value in texts_at(row, "gke"))

    def _read_product(self, labels: Mapping[str, str]) -> AcceleratorType | None:
        name = labels[self._product].partition(_PART)[0].removesuffix(_SHARED)
        return self._only(
            row for row in self._rows if any(fnmatchcase(name, part) for part in texts_at(row, "product"))
        )

    def _read_instance(self, labels: Mapping[str, str]) -> AcceleratorType | None:
        """Of an instance type of EC2, such as p5.48xlarge."""
        prefix = labels[INSTANCE_TYPE].partition(".")[0]
        family = next((family for family in self._families() if text_at(family, "family") == prefix), {})
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


def _misspelt(value: str, names: Sequence[str]) -> list[str]:
    """The one of some names that a value misspells in a letter or two; none where it may be that of another card or
    instance: by its numbers, or by one more part.
    """
    by_lower = {name.lower(): name for name in names}
    close = within_letters(value.lower(), [*by_lower], 2)
    parts, close_parts = re.split("[-_. ]", value.lower()), re.split("[-.]", close)
    numbers = [set(re.findall("[0-9]+", part)) for part in (value, close)]
    models = [next((part for part in some if re.search("[0-9]", part)), "") for some in (parts, close_parts)]
    is_same = len(parts) == len(close_parts) and numbers[0] <= numbers[1] and models[0] == models[1]
    return [by_lower[close]] if close and is_same else []


def _bare_name(row: Mapping[str, object]) -> str:
    """The name of a type without its memory, such as h100."""
    return text_at(row, "name").rpartition("-")[0]


@cache
def known_types() -> AcceleratorTypes:
    """The types of accelerators that we know."""
    return AcceleratorTypes(preset_table("accelerator_types"), lambda: maps_at(preset_table("instances"), "families"))


def _type(row: Mapping[str, object]) -> AcceleratorType:
    return AcceleratorType(
        text_at(row, "name"),
        text_at(row, "vendor"),
        number_at(row, "memoryGiB"),
        bool(row.get("fp8")),
        bool(row.get("fp4")),
        number_at(row, "capability"),
        int(number_at(row, "gkeMost")),
    )
