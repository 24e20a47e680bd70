"""What a run of `llmaz check` says of the engines that it has found: how many, and which by their options alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from renderer.check.engines.containers import EngineContainer, has_accelerators
from renderer.diagnostics import Diagnostic, counted, make_diagnostic
from renderer.engines.catalog import EngineCatalog

_SHOWN = 3  # engines of a note


class EngineCensus(Struct):
    """The engines and the containers with accelerators of a run."""

    accelerated: int = 0  # containers with accelerators
    accelerated_engines: int = 0
    other_engines: int = 0  # without accelerators
    by_options: list[EngineContainer] = field(default_factory=list)

    def count(self, accelerated: int, engines: Iterable[EngineContainer], catalog: EngineCatalog) -> None:
        """Adds the engines of a set, and its containers with accelerators."""
        self.accelerated += accelerated
        for engine in engines:
            is_accelerated = has_accelerators(catalog, engine.body)
            self.accelerated_engines += is_accelerated
            self.other_engines += not is_accelerated
            if engine.recognised.signs:
                self.by_options.append(engine)

    @property
    def words(self) -> str:
        """The counts in words; '' where there is nothing to count."""
        others = counted(self.other_engines, "engine")
        if not self.accelerated:
            return others if self.other_engines else ""
        engines = counted(self.accelerated_engines, "engine")
        text = f"{engines} among {counted(self.accelerated, 'container')} with accelerators"
        return f"{text} and {self.other_engines} without" if self.other_engines else text

    def notes(self) -> Iterator[Diagnostic]:
        """One note on all engines that are recognised by their options."""
        if self.by_options:
            first = self.by_options[0]
            shown = [f"{engine.recognised.engine.runtime.name} in {engine.name}" for engine in self.by_options[:_SHOWN]]
            more = len(self.by_options) - _SHOWN
            names = "; ".join(shown) + (f"; and {more:,} more" if more > 0 else "")
            file, line, _ = first.origin().place
            words = {"count": counted(len(self.by_options), "engine"), "names": names, "place": f"{file}:{line}"}
            yield make_diagnostic("N476", first.origin(), **words)


def similar_containers(candidates: Iterable[EngineContainer]) -> Iterator[Diagnostic]:
    """A note on each container that may run an engine, of which too little tells that."""
    for container in candidates:
        recognised = container.recognised
        if not recognised.is_certain:
            words = {"backend": recognised.engine.runtime.name, "signs": ", ".join(recognised.signs)}
            yield make_diagnostic("N475", container.origin(), name=container.name, **words)
