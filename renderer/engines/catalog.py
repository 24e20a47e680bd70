"""The engines of our presets, by name and version, and which of them an image is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from renderer.api import BackendRuntime, OptionFiles
from renderer.engines.accelerator import NONE, Accelerator, find_row
from renderer.engines.accelerator_parts import cards_of_nodes, take_turns
from renderer.engines.image_version import version_of_tag
from renderer.engines.known_engine import (
    build_dialect,
    build_option_rules,
    health_paths,
    length_options,
    memory_share,
    shares_memory,
    size_options,
)
from renderer.engines.name_lists import engine_names
from renderer.engines.option_lists import Option, OptionList, options_of_all_versions, read_option_list
from renderer.engines.option_rules import OptionRules
from renderer.engines.running_engine import KnownEngine
from renderer.engines.runtime_versions import runtime_in_version
from renderer.fit.accelerator_types import AcceleratorType, AcceleratorTypes
from renderer.kubernetes import quantity
from renderer.plan import Pod


class VersionedEngine(Struct, frozen=True, eq=False):
    """The engine of a preset in one version, '' where that is not known."""

    runtime: BackendRuntime
    version: str
    engine: KnownEngine
    option_rules: OptionRules | None  # None where nobody knows the version's options


class ImageEngine(Struct, frozen=True):
    """The engine in an image of the repositories of a preset, or of mirrors of them."""

    backend: str
    version: str  # '' where the tag does not tell


class EngineCatalog(Struct, frozen=True, eq=False):
    """What is known of engines and accelerators, whoever runs them."""

    runtimes: Mapping[str, BackendRuntime]  # our presets, by name
    option_files: OptionFiles
    accelerators: Sequence[Mapping[str, str]]  # the rows of presets/accelerators.yaml
    accelerator_types: Callable[[], AcceleratorTypes]  # read where one is asked for
    device_classes: Mapping[str, str] = {}  # the vendor of the devices, by DeviceClass
    own_accelerators: Mapping[str, Mapping[str, str]] = {}  # those that RenderConfig declares, by the resource
    model_facts: Callable[[str], Mapping[str, object]] = lambda model_id: {}  # `facts` of our preset with that modelID
    engines: dict[tuple[str, str], VersionedEngine] = field(default_factory=dict)  # a cache
    options: dict[str, Mapping[str, Option]] = field(default_factory=dict)  # a cache of `all_options`

    def engine(self, backend: str, version: str) -> VersionedEngine:
        """The engine of a preset in a version."""
        if (backend, version) not in self.engines:
            self.engines[backend, version] = self._read_engine(self.runtimes[backend], version)
        return self.engines[backend, version]

    def _read_engine(self, preset: BackendRuntime, version: str) -> VersionedEngine:
        runtime = runtime_in_version(preset, version)
        option_list = read_option_list(self.option_files, runtime, version)
        style = build_dialect(runtime.spec, option_list or self._usual_options(preset))
        sizes = size_options(style, runtime.spec.get("engine") or {})
        engine = KnownEngine(
            style=style,
            size_options=sizes.size,
            parallel_options=sizes.all,
            multipliers=sizes.multipliers,
            uncountable_options=sizes.uncountable,
            length_options=length_options(style, runtime.spec.get("engine") or {}),
            names=engine_names(self.option_files, runtime),
            absent=(runtime.spec.get("engine") or {}).get("absent") or (),
            health_paths=health_paths(runtime.spec),
            shares_memory=shares_memory(runtime.spec.get("engine") or {}),
            memory_share=memory_share(style, runtime.spec.get("engine") or {}),
        )
        rules = build_option_rules(self.option_files, runtime, style, option_list, version) if option_list else None
        return VersionedEngine(runtime, version, engine, rules)

    def _usual_options(self, preset: BackendRuntime) -> OptionList | None:
        """The options of the version that a preset names, whose spellings hold where nobody knows the version."""
        version = version_of_tag(preset.spec.get("engine") or {}, preset.spec["version"], trusted=True)
        return read_option_list(self.option_files, preset, version)

    def all_options(self, backend: str) -> Mapping[str, Option]:
        """The options of an engine in any version; none where nobody knows them."""
        if backend not in self.options:
            self.options[backend] = options_of_all_versions(self.option_files, self.runtimes[backend])
        return self.options[backend]

    def rules_of_any_version(self, backend: str) -> OptionRules | None:
        """By what the options of an engine are judged whose version nobody knows, and which may have further ones: what
        some version takes is right.
        """
        options = self.all_options(backend)
        style = self.engine(backend, "").engine.style
        words = f"every {backend} that is known"
        known = OptionList("", options, {})
        return OptionRules(style, known, words, is_certain=False, knows_all=False) if options else None

    def image_engine(self, image: str) -> ImageEngine | None:
        """The engine in an image; None where the repository is no preset's. Of a mirror the last two parts of the
        repository are the same.
        """
        name, _, _ = image.partition("@")
        folder, _, last = name.rpartition("/")
        repository, _, tag = last.partition(":")
        ending = (folder.rpartition("/")[2], repository)
        for backend, runtime in self.runtimes.items():
            if ending in _endings(runtime):
                version = version_of_tag(runtime.spec.get("engine") or {}, tag, trusted=True)
                return ImageEngine(backend, version)
        return None

    def claimed_accelerator(self, claims: Mapping[str, int]) -> Accelerator:
        """The accelerators of claims; NONE where they are of two classes, or of none that is known."""
        known = [(name, count) for name, count in claims.items() if name in self.device_classes and count > 0]
        if len(known) != 1:
            return NONE
        [(name, count)] = known
        return Accelerator(self.device_classes[name], count, group=True, resource=name, claimed=True)

    def cards(self, pod: Pod) -> list[AcceleratorType]:
        """The types of cards on which a pod may run; none where that is not known."""
        if not pod.node_selector and not pod.affinity:
            return []
        return cards_of_nodes(self.accelerator_types(), pod.node_selector, pod.affinity)

    def take_turns(self, limits: Mapping[str, object], pod: Pod) -> bool:
        """Whether pods with these limits share a card, each in its turn."""
        return take_turns(self.accelerator_types, self.accelerators, limits, pod.node_selector)

    def accelerator(self, limits: Mapping[str, object]) -> Accelerator:
        """The accelerators in a container's limits; NONE also where they are of two kinds, or no whole number."""
        accelerators = []
        for resource, amount in limits.items():
            own = self.own_accelerators.get(resource)
            row = {"count": "tp", **own} if own else find_row(self.accelerators, resource)
            if row is None or row["count"] == "none":
                continue
            try:
                number, part = divmod(quantity.nanos(str(amount)), 10**9)
            except ValueError:
                return NONE
            if number and not part:
                accelerators.append(Accelerator(row["vendor"], number, row["count"] == "tp", resource))
        return accelerators[0] if len(accelerators) == 1 else NONE


def _endings(runtime: BackendRuntime) -> set[tuple[str, str]]:
    """The last two parts of each repository of a runtime."""
    variants = (runtime.spec.get("engine") or {}).get("variants") or ()
    images = [runtime.spec["image"], *(variant["image"] for variant in variants if variant.get("image"))]
    parts = [image.rpartition("/") for image in images]
    return {(folder.rpartition("/")[2], last) for folder, _, last in parts}
