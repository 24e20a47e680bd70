"""One file as plain values, which pass cheaply from process to process."""

from __future__ import annotations

from codecs import utf_16_be_encode, utf_16_le_encode, utf_32_be_encode, utf_32_le_encode
from collections.abc import Sequence
from typing import Any

from msgspec.structs import astuple, replace

from renderer import yamlio
from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic, naming_file
from renderer.diagnostics.rule import NamedSource
from renderer.load.environments import Environment, PatchedDocument
from renderer.load.validation import check, kind_of
from renderer.source.paths import MAX_BYTES, FileTooLargeError
from renderer.source.tree import MARK, ReadableFile

# What says that a file may be ours: also with its apiVersion missing or misspelt, or in another encoding.
_SIGNS = (
    b"llmaz.io/",
    b"inference.networking.x-k8s.io/",
    *(f"kind: {kind}".encode() for kind in ("Playground", "OpenModel", "BackendRuntime", "RenderConfig", "ModelRoute")),
    b"inference.llmaz",
    # By codecs' own functions, since str.encode imports a module for each encoding.
    *(encode("llmaz.io/")[0] for encode in (utf_16_le_encode, utf_16_be_encode, utf_32_le_encode, utf_32_be_encode)),
)
DEFINITIONS = ("OpenModel", "BackendRuntime")  # what apps in other files use
LEADING = ("ModelRoute", "InferenceModel")  # what leads to apps in other files
NEIGHBOURS = ("Playground", "Service", *LEADING)  # what public names in other files lead to
# What routes refer to, in files of others.
AROUND = (
    "gateway.networking.k8s.io",
    "gateway.envoyproxy.io",
    "inference.networking.k8s.io",
    "inference.networking.x-k8s.io",
)
FOREIGN = "~"  # stands where the kind of ours would
GONE = "-"  # likewise: it is known by its name alone
_AROUND = (*(f"{group}/".encode() for group in AROUND), b"kind: Secret")
_MARK = MARK.encode()
_DEFINED = tuple(kind.encode() for kind in DEFINITIONS + NEIGHBOURS)


def plain(file: ReadableFile, outside: bool = False, environment: Environment | None = None) -> Any:
    """A file's bytes, the number of foreign documents in it, ours by index, problems, and whether it is unreadable.

    `outside`: it lies outside PATHS, so what is wrong with its apps is of no interest. `environment`: whose
    patches they are under.
    """
    with naming_file(file.name):
        return _read(file, outside, environment)


def _read(file: ReadableFile, outside: bool, environment: Environment | None) -> Any:
    try:
        data = file.read()
    except FileTooLargeError as error:
        too_large = make_diagnostic("E106", Origin(NamedSource(file.name)), size=error.size, limit=MAX_BYTES)
        return b"", 0, [], [] if outside else [astuple(replace(too_large, line=1, column=1))], True
    except OSError as error:
        return (
            b"",
            0,
            [],
            [astuple(make_diagnostic("E120", Origin(NamedSource(file.name)), what=error.strerror or error))],
            True,
        )
    ours = any(sign in data for sign in (_DEFINED if outside else _SIGNS)) and not data.startswith(_MARK)
    around = not ours and any(sign in data for sign in _AROUND) and not data.startswith(_MARK)
    if not ours and not around:
        return b"", int(not outside), [], [], False
    documents, problems = yamlio.parse(file.name, data)
    if around and problems:
        return b"", int(not outside), [], [], False  # not ours to judge
    values: list[tuple[int, Any, str, bool, Sequence[tuple[Path, Path]]]] = []
    foreign = 0
    unreadable = bool(problems)
    for document in documents:
        unkind: list[Diagnostic] = []
        kind = kind_of(document, unkind)
        if kind is None or (outside and _kind(document.value) not in DEFINITIONS + NEIGHBOURS):
            foreign += not outside
            if _group(document.value) in AROUND or _kind(document.value) == "Secret":
                values.append((document.index, document.value, FOREIGN, False, ()))
            continue
        where: Sequence[tuple[Path, Path]] = ()
        if environment and kind:
            patched, wrong = environment.patched(document, kind)
            unkind += wrong
            if patched is None:
                problems += [] if outside else unkind
                values.append((document.index, _named(document.value), GONE, False, ()))
                continue
            document, where = patched, [*patched.where.items()] if isinstance(patched, PatchedDocument) else ()
        if environment and kind == "RenderConfig" and environment.stands_in(file.name):
            continue  # it is judged already, in the environment
        findings = check(document, kind) if kind else []
        if outside and kind not in DEFINITIONS + LEADING:
            if kind and not findings:
                values.append((document.index, document.value, kind, True, where))
            elif environment:
                values.append((document.index, _named(document.value), GONE, False, ()))
            continue
        problems += unkind
        values.append((document.index, document.value, kind, bool(kind) and not findings, where))
        reported = {
            (problem.line, problem.field) for problem in problems
        }  # what a tag made of a value, say, fits nowhere
        problems += [finding for finding in findings if (finding.line, finding.field) not in reported]
    return data if values else b"", foreign, values, [astuple(problem) for problem in problems], unreadable


def _named(value: Any) -> Any:
    """What of an object says which it is."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    kept = (
        {key: metadata[key] for key in ("name", "namespace") if key in metadata} if isinstance(metadata, dict) else {}
    )
    return {"kind": _kind(value), "metadata": kept}


def _group(value: Any) -> Any:
    version = value.get("apiVersion") if isinstance(value, dict) else None
    return version.partition("/")[0] if isinstance(version, str) else ""


def _kind(value: Any) -> Any:
    return value.get("kind") if isinstance(value, dict) else None
