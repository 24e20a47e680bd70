"""An engine as it runs in a pod, whoever wrote that: what the rules about running engines judge (rules/).

It names no app. A caller describes what it is about in the words of its reader (Subject).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from renderer.diagnostics import Origin, Path
from renderer.engines.accelerator import Accelerator
from renderer.engines.dialect import ArgLayer, Dialect
from renderer.engines.handwritten_command import EngineProgram, Word
from renderer.engines.name_lists import EngineNames
from renderer.engines.option_rules import OptionFinding, OptionRules
from renderer.fit.accelerator_types import AcceleratorType
from renderer.kubernetes.json_values import as_text, text_at
from renderer.plan import Container, Pod

if TYPE_CHECKING:
    from renderer.input_types import AbsentSpec


class MemoryShare(Struct, frozen=True):
    """The part of an accelerator's memory that an engine takes, whatever the model needs."""

    fraction: float  # without the option
    option: str  # that sets it
    options: frozenset[str]  # all that set how much it takes, by their names in comparisons


class KnownEngine(Struct, frozen=True, eq=False, kw_only=True):
    """What is known of an engine, whoever runs it."""

    style: Dialect  # of its command line
    size_options: frozenset[str]  # that set the tensor parallel size
    parallel_options: frozenset[str]  # all that distribute accelerators, `size_options` too
    multipliers: Mapping[str, frozenset[str]]  # options that multiply the size, and those that suspend each
    uncountable_options: frozenset[str]  # with which the number of accelerators is unknown
    length_options: frozenset[str] = frozenset()  # that set the context length
    names: EngineNames = EngineNames()  # besides options
    absent: Sequence[AbsentSpec] = ()  # what images lack
    health_paths: tuple[str, str] = ("", "")  # by which its preset asks whether it is ready, and whether it lives
    shares_memory: bool = False  # its processes, one for each accelerator, speak over /dev/shm
    memory_share: MemoryShare | None = None  # None where the engine takes what its model needs, or nobody knows
    # A cache, by version, arguments and how words without an option are read:
    option_findings: dict[tuple[object, ...], tuple[OptionFinding, ...]] = field(default_factory=dict)


class Subject(Struct, frozen=True):
    """How messages speak of a running engine, and of what its reader can change."""

    name: str  # such as "Playground llm/chat", or "container 'engine' of Deployment llm/qwen"
    limits: str  # what says how many accelerators there are, such as "the flavor's limits"
    raised: Callable[[int], str] | None = None  # what to write for so many, '' if unknown
    over_pods: str = ""  # how a model is shared over several pods, '' where it cannot be
    ways: str = "data or pipeline"  # to use further accelerators


class SharedAccelerators(Struct, frozen=True):
    """The accelerators of a pod, and how many of them work."""

    accelerator: Accelerator
    size: int  # of them that work where no argument says another number
    origin: Origin | None  # of that number, None where nobody says one
    hosts: int  # pods of a replica
    where: Callable[[], Origin | None] = lambda: None  # what asks for them


class LineStart(Struct, frozen=True):
    """How the program of a command line reads words that belong to no option, and what stands before the options."""

    program: EngineProgram
    is_entrypoint: bool  # of the image; else the line begins with it
    repeated: Sequence[Word]  # what repeats the program
    first_model: Word | None  # the model that stands first

    @property
    def shown(self) -> str:
        """The program as messages have it."""
        return " ".join(self.program.command)


class EngineLine(Struct, frozen=True):
    """The command line of an engine."""

    subject: Subject
    backend: str  # the preset of the engine
    engine: KnownEngine
    version: str  # '' where the image does not tell
    args: tuple[str, ...]  # the whole line, behind the model; empty where it may have options that nobody sees
    options: frozenset[str]  # the names of the options in it
    written: Sequence[ArgLayer]  # the parts of it that the reader wrote, such as those beside a preset's
    option_rules: OptionRules | None  # None where nobody knows the version's options
    shared: SharedAccelerators
    is_own_image: Callable[[], bool]  # whether the engine's project publishes the image, or it is a mirror of such one
    start: LineStart | None = None  # None where somebody else wrote what stands there, or nobody knows how it is read
    shipped: Sequence[object] = ()  # sources of `written` that are presets of ours, which no reader changes
    hides_options: bool = False  # what is filled in at run time may be an option, so `args` has none


class MemoryNeed(Struct, frozen=True):
    """Memory that something in the pod has to have."""

    least: str
    origin: Origin  # of what it has


class HeldCache(Struct, frozen=True):
    """KV cache that the engine holds outside of its accelerators."""

    amount: str
    size: int  # the same in bytes
    origin: Origin  # of the amount
    memory: MemoryNeed
    shared_memory: MemoryNeed | None  # None where nothing of it lies there


class RunningEngine(Struct, frozen=True, kw_only=True):
    """An engine in its pod, whole, whoever wrote it."""

    line: EngineLine
    pod: Pod
    container: Container
    path: Path  # of the container in the pod's template
    origin_of: Callable[[Path], Origin | None]  # of a field that somebody wrote, by its path in the pod's template
    # The names of variables with a prefix that the reader wrote, and where:
    written_variables: Callable[[str], Iterable[tuple[str, Origin]]] = lambda prefix: ()
    held_cache: HeldCache | None = None
    cards: Callable[[], Sequence[AcceleratorType]] = tuple  # of which type the pod's may be; none where that is unknown
    takes_turns: Callable[[], bool] = lambda: False  # whether the pod shares a card with other pods, each in its turn
    weights_folder: Callable[[], str] = str  # where the pod writes them, '' where that is not known
    downloads_to: Callable[[], str] = str  # where the engine keeps what it downloads itself, '' where that is not known
    claim_size: Callable[[str], str] = lambda name: ""  # what a claim of that name requests, '' where it is not known
    is_whole: bool = True  # nobody adds to the pod, such as a chart or the controller of an unknown kind
    port: Callable[[], int | None] = lambda: None  # on which the engine listens, None where that is not known
    version_origin: Callable[[], Origin | None] = lambda: None  # where somebody chose the version
    facts: Callable[[], Mapping[str, object]] = dict  # of the model, `facts` of an OpenModel; empty where it is unknown
    model: Callable[[], str] = str  # the id of its repository, or a path; '' where it is unknown

    def has_variable(self, names: Collection[str]) -> bool:
        """Whether the container has a variable of one of the names, whoever wrote it."""
        return bool(names) and any(as_text(entry.get("name")) in names for entry in self.container.env)

    def plain_value(self, variable: str) -> str:
        """What the last variable of that name holds in plain text; '' where it is from elsewhere."""
        values = [text_at(entry, "value") for entry in self.container.env if entry.get("name") == variable]
        return values[-1] if values else ""
