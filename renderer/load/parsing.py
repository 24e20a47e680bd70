"""Parses one file into plain values, which pass cheaply from process to process."""

from __future__ import annotations

import re
from codecs import utf_16_be_encode, utf_16_le_encode, utf_32_be_encode, utf_32_le_encode
from collections.abc import Sequence, Set
from typing import NamedTuple

from msgspec.structs import replace

from renderer import yamlio
from renderer.diagnostics import Diagnostic, NamedSource, Origin, Path, make_diagnostic, naming_file, read_error
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, text_at
from renderer.kubernetes.object_lists import is_object_list
from renderer.kubernetes.workloads import QUOTA_KINDS, WORKLOADS
from renderer.load.environments import Environment, PatchedDocument
from renderer.load.validation import check, check_intended, intended_kind, kind_of
from renderer.output.file_header import MARK
from renderer.source.paths import MAX_BYTES, POLICY, FileTooLargeError
from renderer.source.tree import ReadableFile

# Byte strings of files that may hold our kinds, also with apiVersion missing or misspelt, or in another encoding.
_SIGNS = (
    b"llmaz.io/",
    b"inference.networking.x-k8s.io/",
    *(
        f"kind: {written}".encode()
        for kind in ("Playground", "OpenModel", "BackendRuntime", "RenderConfig", "RenderPolicy", "ModelRoute")
        for written in (kind, kind.lower(), f"{kind[0].lower()}{kind[1:]}")
    ),
    b"inference.llmaz",
    # By codecs' own functions, since str.encode imports a module for each encoding.
    *(encode("llmaz.io/")[0] for encode in (utf_16_le_encode, utf_16_be_encode, utf_32_le_encode, utf_32_be_encode)),
)
DEFINITIONS = ("OpenModel", "BackendRuntime")  # used by apps in other files
TRAFFIC = ("ModelRoute", "InferenceModel")  # refer to apps in other files
NEIGHBOURS = ("Playground", "Service", *TRAFFIC)  # share public names with other files
# API groups of foreign objects that routes refer to.
REFERENCED_GROUPS = (
    "gateway.networking.k8s.io",
    "gateway.envoyproxy.io",
    "inference.networking.k8s.io",
    "inference.networking.x-k8s.io",
)
FOREIGN = "~"  # in place of a kind: a foreign object
UNREFERENCED = "~~"  # in place of a kind: a foreign object that no route refers to
DISABLED = "-"  # in place of a kind: deleted by the environment, or invalid outside PATHS; only its name is kept
_AI_GATEWAY_GROUP = "aigateway.envoyproxy.io"
# Kinds of other groups that are rendered, or that act on what is.
COMPARED_KINDS = (
    *(name for (_, name), workload in WORKLOADS.items() if workload.is_ours),
    "Service",
    "ConfigMap",
    "PodDisruptionBudget",
    "NetworkPolicy",
    "PodMonitor",
    "ServiceMonitor",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "VerticalPodAutoscaler",
    "InterceptorRoute",
    "PersistentVolumeClaim",
    *QUOTA_KINDS,
    "Ingress",
    "InferenceObjective",
    "InferenceModelRewrite",
)
_REFERENCED_SIGNS = (
    *(f"{group}/".encode() for group in (*REFERENCED_GROUPS, _AI_GATEWAY_GROUP)),
    b"kind: Secret",
    b"LeaderWorkerSet",  # also as what an autoscaler targets
    b"DisaggregatedSet",  # the same
)
# As text: few trees need it, and `re` caches the compiled pattern.
_COMPARED = rb"kind[\"']?\s*:\s*[\"']?(" + "|".join(COMPARED_KINDS).encode() + rb")(?:List)?\b"
_NAMES = rb"""[nN]ame["']?\s*:\s*(?:&\S+\s+)?["']?([^\s"',{}\[\]]+)"""
# Escapes in double quotes by which ASCII can be written: a number, `\/`, a line that goes on.
_ESCAPE = rb"\\(?:(?:x|u00|U000000)([0-7][0-9a-fA-F])|(/)|\r?\n[ \t]*)"
_MARK = MARK.encode()
_OUTSIDE_SIGNS = (*(kind.encode() for kind in DEFINITIONS + NEIGHBOURS), b"kind: Model")


class ParsedDocument(NamedTuple):
    """A document as plain values."""

    position: int  # in the file
    value: object
    kind: str  # also FOREIGN, UNREFERENCED and DISABLED; the intended kind where it is wrong, '' where that is unknown
    valid: bool  # it has a known kind and fits its schema
    patched: Sequence[tuple[Path, Path]] = ()  # a field, and the field of RenderConfig that set it


class ParsedFile(NamedTuple):
    """A file as plain values."""

    data: bytes  # its bytes, empty without documents to use
    foreign: int  # the number of foreign documents
    documents: Sequence[ParsedDocument]
    problems: Sequence[Diagnostic]
    unreadable: bool  # documents may be missing
    # All in the text of a file that is not parsed, and that may hold objects like the rendered ones.
    names: Set[bytes] = frozenset()
    kinds: Set[bytes] = frozenset()  # of these objects


def parse_file(file: ReadableFile, outside: bool = False, environment: Environment | None = None) -> ParsedFile:
    """The parsed and validated file, with the patches of `environment` applied.

    `outside`: it lies outside PATHS, so problems of its apps are dropped.
    """
    with naming_file(file.name):
        return _parse_file(file, outside, environment)


def _parse_file(file: ReadableFile, outside: bool, environment: Environment | None) -> ParsedFile:
    if file.key == POLICY:  # `load.render_policy` reads it
        return ParsedFile(b"", 0, [], [], False)
    try:
        data = file.read()
    except FileTooLargeError as error:
        too_large = make_diagnostic("E106", Origin(NamedSource(file.name)), size=error.size, limit=MAX_BYTES)
        return ParsedFile(b"", 0, [], [] if outside else [replace(too_large, line=1, column=1)], True)
    except OSError as error:
        return ParsedFile(b"", 0, [], [read_error(file.name, error)], True)
    if data.startswith(_MARK):
        return ParsedFile(b"", int(not outside), [], [], False)
    plain = _without_escapes(data)
    may_be_ours = any(sign in plain for sign in (_OUTSIDE_SIGNS if outside else _SIGNS))
    may_be_referenced = not may_be_ours and any(sign in plain for sign in _REFERENCED_SIGNS)
    if not (may_be_ours or may_be_referenced):
        kinds = set() if outside else set(re.findall(_COMPARED, plain))
        names = set(re.findall(_NAMES, plain)) if kinds else set()
        names |= {name.partition(b".")[0] for name in names}  # of a Service that a host name holds
        return ParsedFile(b"", int(not outside), [], [], False, frozenset(names), frozenset(kinds))
    documents, problems = yamlio.parse(file.name, data)
    if may_be_referenced and problems:  # syntax errors of a foreign file are not reported
        return ParsedFile(b"", int(not outside), [], [], False)
    parsed: list[ParsedDocument] = []
    foreign = 0
    unreadable = bool(problems)
    for document in documents:
        document_problems: list[Diagnostic] = []
        kind = kind_of(document, document_problems)
        intended = kind if kind != "" else intended_kind(document.value)
        if kind is None or (outside and intended not in DEFINITIONS + NEIGHBOURS):
            foreign += not outside
            group, name = _group(document.value), _kind(document.value)
            if group in REFERENCED_GROUPS or name in ("Secret", *wellknown.AUTOSCALERS):
                parsed.append(ParsedDocument(document.index, document.value, FOREIGN, False))
            elif not outside and (
                group == _AI_GATEWAY_GROUP or name in COMPARED_KINDS or is_object_list(document.value)
            ):
                parsed.append(ParsedDocument(document.index, document.value, UNREFERENCED, False))
            continue
        sources: Sequence[tuple[Path, Path]] = ()
        if environment and kind:
            patched, patch_problems = environment.patch_document(document, kind)
            document_problems += patch_problems
            if patched is None:
                problems += [] if outside else document_problems
                parsed.append(ParsedDocument(document.index, _identity(document.value), DISABLED, False))
                continue
            document, sources = patched, [*patched.sources.items()] if isinstance(patched, PatchedDocument) else ()
        if environment and kind == "RenderConfig" and environment.stands_in(file.name):
            continue  # validated by `render_config`, in the environment
        findings = check(document, kind) if kind else check_intended(document)
        if outside and intended not in DEFINITIONS + TRAFFIC:
            if kind and not findings:
                parsed.append(ParsedDocument(document.index, document.value, kind, True, sources))
            elif environment:
                parsed.append(ParsedDocument(document.index, _identity(document.value), DISABLED, False))
            continue
        problems += document_problems
        valid = bool(kind) and not findings
        parsed.append(ParsedDocument(document.index, document.value, str(intended), valid, sources))
        reported = {(problem.line, problem.field) for problem in problems}  # a tag's value, say, fits no schema
        problems += [finding for finding in findings if (finding.line, finding.field) not in reported]
    return ParsedFile(data if parsed else b"", foreign, parsed, problems, unreadable)


def _without_escapes(data: bytes) -> bytes:
    """A file's text in which words are looked for, however they are written in double quotes."""
    if b"\\" not in data:
        return data
    return re.sub(_ESCAPE, lambda match: bytes.fromhex(match[1].decode()) if match[1] else match[2] or b"", data)


def _identity(value: object) -> object:
    """The kind, name and namespace of an object, as far as it has them."""
    metadata = map_at(value, "metadata")
    return {"kind": _kind(value), "metadata": {key: metadata[key] for key in ("name", "namespace") if key in metadata}}


def _group(value: object) -> object:
    return text_at(value, "apiVersion").partition("/")[0]


def _kind(value: object) -> object:
    return value.get("kind") if isinstance(value, dict) else None
