"""Lets the parser of a Python engine be run from its sources alone: what it imports and nobody has is a stand-in.

The Python needs msgspec, packaging, pydantic and PyYAML, which the engines' configuration is made of. Every other
module of third parties is replaced by an empty one whose every name is a class that can be called, subclassed and
compared; and so are the engine's own modules beyond its arguments and configuration. What a stand-in stands for changes
no option: options are told by names, constants and annotations, all of which are in the real modules. So are the
registries of parsers, quantizations and load formats; choices that another registry gives are lost.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import re
import sys
import types
from abc import ABCMeta
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# The engine's own modules that are run; all others of its are stand-ins.
REAL = {
    "vllm": re.compile(
        r"vllm\.(engine(\.arg_utils)?|(config|utils|platforms|plugins|logging_utils|ray|tracing|entrypoints\.openai\.models)(\..*)?"
        r"|envs|env_override|logger|scripts|version|executor|tasks|connections|sequence|exceptions|beam_search|pooling_params"
        r"|transformers_utils(\.(utils|config_parser_base))?"
        r"|entrypoints(\.(utils|chat|common|constants|cli(\.(serve|types))?|(launchers|serve)(\.utils)?|openai(\.parser)?))?"
        r"|entrypoints\..*(cli_args|constants)"
        # What the values of options are looked up in.
        r"|(tool_parsers|reasoning|parser|entrypoints\.openai\.(tool_parsers|reasoning_parsers))(\..*)?"
        r"|model_executor(\.layers(\.quantization)?|\.model_loader)?"
        r"|(v1\.)?attention\.backends\.(mla\.prefill\.)?registry)"
    ),
    "sglang": re.compile(
        r"sglang\.srt(\.(server_args(_config_parser)?|arg_groups(\..*)?|environ|constants"
        r"|parser(\..*)?|reasoning_parser|function_call(\..*)?|function_call_parser))?"
    ),
}
# Modules that an engine looks for to find out where it runs: these are not there.
HARDWARE = {"amdsmi", "habana_frameworks", "libtpu", "modelscope", "pynvml", "tpu_inference"}
HARDWARE |= {"torch_memory_saver", "torch_npu", "torch_xla"}
ENVIRONMENT = {
    "VLLM_TARGET_DEVICE": "cpu",
    "VLLM_CONFIGURE_LOGGING": "0",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "SGLANG_USE_CPU_ENGINE": "1",
}


class StandIn(ABCMeta):
    """The type of classes that take whatever is done to them. A subclass with a body of its own is a usual class."""

    def __getattr__(cls, name: str) -> Any:
        if name == "__version__":
            return "9.9.9"
        if (name.startswith("__") and name.endswith("__")) or not stands_in(cls):
            raise AttributeError(name)
        value = stand_in(f"{cls.__name__}.{name}")
        type.__setattr__(cls, name, value)
        return value

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not stands_in(cls):
            return super().__call__(*args, **kwargs)
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)) and not stands_in(args[0]):
            return args[0]  # it decorates
        return stand_in(f"{cls.__name__}()")

    def __instancecheck__(cls, instance: Any) -> bool:
        return stands_in(instance) if stands_in(cls) else super().__instancecheck__(instance)

    def __bool__(cls) -> bool:
        return not stands_in(cls) or "(" not in cls.__name__  # what a call gives is nothing: no device, no feature

    def _same(cls, *_: Any) -> Any:
        return cls

    def _never(cls, *_: Any) -> bool:
        return False

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __len__(cls) -> int:
        return 0

    def __int__(cls) -> int:
        return 1

    def __float__(cls) -> float:
        return 1.0

    def __fspath__(cls) -> str:
        return "/nowhere"

    __index__ = __int__
    __contains__ = __exit__ = __lt__ = __gt__ = __le__ = __ge__ = _never
    __getitem__ = __enter__ = __neg__ = _same
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __and__ = __pow__ = __rpow__ = _same
    __truediv__ = __rtruediv__ = __floordiv__ = _same


def stands_in(value: Any) -> bool:
    """Whether it is a stand-in itself."""
    return type(value) is StandIn and "_stands_in" in vars(value)


def stand_in(name: str) -> Any:
    """A class that takes whatever is done to it; pydantic takes any value for one of it."""

    def schema(cls: Any, *_: Any) -> Any:
        return importlib.import_module("pydantic_core").core_schema.any_schema()

    body = {
        "_stands_in": True,
        "__module__": "stand_ins",
        "__init__": lambda self, *args, **kwargs: None,
        "__init_subclass__": classmethod(lambda cls, **kwargs: None),
        "__get_pydantic_core_schema__": classmethod(schema),
    }
    return StandIn(name, (), body)


class Module(types.ModuleType):
    """A module in which every name is there."""

    __path__: list[str] = []
    __version__ = "2.99.0"
    __all__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        value = stand_in(name)
        setattr(self, name, value)
        return value


class Loader(importlib.abc.Loader):
    """Makes modules that are not there. `path`: where the real modules of a package lie."""

    def __init__(self, path: Sequence[str] = ()) -> None:
        self._path = list(path)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__path__ = self._path


class Own(importlib.abc.MetaPathFinder):
    """Finds an engine's own modules, real ones and stand-ins; what its package does on its import is left out."""

    def __init__(self, engine: str, sources: Path) -> None:
        self._engine, self._sources = engine, sources

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != self._engine or REAL[self._engine].fullmatch(name):
            return None
        # A module below it may be real.
        place = self._sources.joinpath(*name.split("."))
        return importlib.machinery.ModuleSpec(name, Loader([str(place)]), is_package=True)


class Others(importlib.abc.MetaPathFinder):
    """Finds all that nobody else found, but for the standard library and what belongs to some hardware."""

    def __init__(self, engine: str) -> None:
        self._absent = {*sys.stdlib_module_names, *HARDWARE, engine, "sitecustomize", "usercustomize"}
        self.asked_only = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        top = name.partition(".")[0]
        if top in self._absent or self.asked_only or (top != name and not isinstance(sys.modules.get(top), Module)):
            return None
        return importlib.machinery.ModuleSpec(name, Loader(), is_package=True)


def install(engine: str, sources: Path) -> None:
    """From here on the engine's sources can be imported."""
    others, find, version = Others(engine), importlib.util.find_spec, importlib.metadata.version

    def find_spec(name: str, package: str | None = None) -> importlib.machinery.ModuleSpec | None:
        """Whether something is installed: what is not, is not, though it can be imported."""
        others.asked_only = True
        try:
            return find(name, package)
        except (ImportError, ValueError):
            return None
        finally:
            others.asked_only = False

    def metadata_version(distribution_name: str) -> str:
        try:
            return version(distribution_name)
        except importlib.metadata.PackageNotFoundError:
            return "9.9.9"

    importlib.util.find_spec = find_spec
    importlib.metadata.version = metadata_version
    sys.modules.setdefault("regex", re)  # with which vLLM's parser rewrites its words and reads values
    sys.meta_path[:] = [Own(engine, sources), *sys.meta_path, others]
    sys.path.insert(0, str(sources))
    os.environ.update(ENVIRONMENT)
