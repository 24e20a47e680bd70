"""Where a model's weights are, where the engine finds them, and which loader brings them.

The rules: docs/design/operator.md#sources.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from renderer import component_versions
from renderer.api import Inputs, OpenModel, minor
from renderer.diagnostics import Collector, Origin, suggestion
from renderer.resolve.names import pullable

if TYPE_CHECKING:
    from renderer.input_types import ModelHubSpec

HOME = "/workspace/models/"
PULLED = "ollama"  # the one scheme, and kind of source, that is named after an engine: it pulls the weights itself
_DEFAULT_REVISION = {"Huggingface": "main"}  # ModelScope's own: docs/design/operator.md#sources
_GGUF = ".gguf"
_PATTERNS: tuple[Literal["allowPatterns", "ignorePatterns"], ...] = ("allowPatterns", "ignorePatterns")
# The first two as text: few runs need them, and re keeps what it has compiled.
_IMAGE = (  # registry/repository[:tag][@digest]; groups: last part of the repository, tag, digest
    r"[a-z0-9.-]+(?::\d+)?/(?:[a-z0-9._-]+/)*([a-z0-9]+(?:[._-]+[a-z0-9]+)*)(?::([\w.-]{1,128}))?(?:@(sha256:[0-9a-f]{64}))?"
)
_ODD = r"[\s?#]|(?:^|/)\.{1,2}(?:/|$)"
_ID = re.compile(r"[._-]*[A-Za-z0-9][A-Za-z0-9._-]*(?:/[._-]*[A-Za-z0-9][A-Za-z0-9._-]*)?")


class Weights(Struct, frozen=True):
    """One model's weights.

    `kind` is the preset word Source. `path`: what the engine opens when the weights are on disk; `address`: what it is
    told when nothing loads them. `loader`: name of the loader preset and its source entry, None when nothing is to
    load.
    """

    kind: str
    path: str
    address: str
    name: str
    format: str
    one_file: bool
    origin: Origin
    hub: str = ""
    revision: str = ""
    filename: str = ""
    endpoint: str = ""
    scheme: str = ""
    host_path: str = ""
    image: str = ""
    loader: str | None = None
    entry: Mapping[str, Any] = {}
    words: Mapping[str, Any] = {}


def weights(inputs: Inputs, model: OpenModel, diagnostics: Collector) -> Weights:
    """What the model's `spec.source` says. Raises Stop when it says nothing that works."""
    source = model.spec["source"]
    hub, uri = source.get("modelHub"), source.get("uri")
    if hub is not None and uri is not None:
        diagnostics.stop("E230", Origin(model.document, ("spec", "source", "uri"), key=True))
    if hub is not None:
        return _hub(inputs, model, hub, Origin(model.document, ("spec", "source", "modelHub")), diagnostics)
    if uri is None:
        diagnostics.stop("E231", Origin(model.document, ("spec", "source")))
    return _uri(inputs, model, str(uri), Origin(model.document, ("spec", "source", "uri")), diagnostics)


def _hub(inputs: Inputs, model: OpenModel, hub: ModelHubSpec, at: Origin, diagnostics: Collector) -> Weights:
    kind, repo, filename = hub.get("name", "Huggingface"), hub.get("modelID") or "", hub.get("filename") or ""
    if not repo:
        diagnostics.add("E232", at.at("modelID") if "modelID" in hub else replace(at, key=True))
    if repo and not _ID.fullmatch(repo):
        diagnostics.add("E233", at.at("modelID"), value=repo)
    if "filename" in hub:
        if not filename or filename.startswith("/") or filename.endswith("/") or ".." in filename.split("/"):
            diagnostics.add("E234", at.at("filename"), value=filename)
        if kind != "Huggingface":
            diagnostics.add("E235", at.at("filename", key=True), hub=kind)
        for field in _PATTERNS:
            if field in hub:
                diagnostics.add("E236", at.at(field, key=True), field=field)
    for field in _PATTERNS:
        for i, pattern in enumerate(hub.get(field) or ()):
            if not pattern:
                diagnostics.add("E237", at.at(field, i), what="the pattern is empty", hint="leave it out")
            elif "," in pattern:
                what = f"the loader splits the pattern '{pattern}' at its comma"
                diagnostics.add("E237", at.at(field, i), what=what, hint="write each pattern as an item of its own")
    revision = hub.get("revision") or _DEFAULT_REVISION.get(kind, "")
    allow = hub.get("allowPatterns") or []
    gguf = filename.lower().endswith(_GGUF) or (bool(allow) and all(p.lower().endswith(_GGUF) for p in allow))
    loader, entry = _loader(inputs, kind)
    return Weights(
        kind="hub",
        path=HOME + (filename or "models--" + repo.replace("/", "--")),
        address=repo,
        name=model.name,
        format="gguf" if gguf else "safetensors",
        one_file=bool(filename),
        origin=at,
        hub=kind,
        revision=revision,
        filename=filename,
        loader=loader,
        entry=entry,
        words={
            "ModelID": repo, "Hub": kind, "Filename": filename, "Revision": revision,
            "AllowPatterns": ",".join(allow), "IgnorePatterns": ",".join(hub.get("ignorePatterns") or []),
        },
    )  # fmt: skip


def _uri(inputs: Inputs, model: OpenModel, uri: str, at: Origin, diagnostics: Collector) -> Weights:
    if uri.count("://") != 1:
        diagnostics.stop("E240", at, value=uri)
    scheme, rest = uri.split("://")
    scheme = scheme.lower()
    if scheme == PULLED:
        if not pullable(rest):
            diagnostics.stop("E245", at, value=uri)
        return Weights(PULLED, "", uri, rest, "gguf", False, at, scheme=scheme)
    if scheme == "host":
        odd = ".." in rest.split("/") or ":" in rest
        if not rest.startswith("/") or posixpath.normpath(rest) in ("/", "//") or odd:
            diagnostics.stop("E244", at, value=uri)
        one = rest.lower().endswith(_GGUF)
        return Weights(
            "host", rest, rest, model.name, "gguf" if one else "safetensors", one, at, scheme=scheme, host_path=rest
        )
    if scheme == "oci":
        return _oci(inputs, model, uri, rest, at, diagnostics)
    loader, entry = _loader(inputs, scheme)
    if not loader:
        known = [
            *(
                s
                for name in inputs.loaders
                for e in inputs.loaders[name].value["spec"]["sources"]
                for s in e["serves"]
                if "address" in e
            ),
            "host",
            "oci",
            PULLED,
        ]
        diagnostics.stop("E241", at, scheme=uri.partition("://")[0], hint=_scheme_hint(scheme, known))
    return _store(
        inputs=inputs,
        model=model,
        uri=uri,
        scheme=scheme,
        rest=rest,
        loader=loader,
        entry=entry,
        at=at,
        diagnostics=diagnostics,
    )


def _scheme_hint(scheme: str, known: list[str]) -> str:
    if scheme in ("hf", "huggingface", "modelscope"):
        return "a hub repository is written source.modelHub.modelID"
    if scheme == "file":
        return "a folder of the node is written host:///path"
    return suggestion(scheme, known)


def _store(
    inputs: Inputs,
    model: OpenModel,
    uri: str,
    scheme: str,
    rest: str,
    loader: str,
    entry: Mapping[str, Any],
    at: Origin,
    diagnostics: Collector,
) -> Weights:
    with_endpoint = entry["address"] == "bucket.endpoint/path"
    bucket, dot, tail = rest.partition(".") if with_endpoint else (rest.partition("/")[0], ".", "")
    endpoint, slash, key = tail.partition("/") if with_endpoint else ("", *rest.partition("/")[1:])
    last = key.rpartition("/")[2]
    if not (dot and slash and bucket and key and (endpoint or not with_endpoint)) or "/" in bucket:
        diagnostics.stop(
            "E242", at, value=uri, form=f"{scheme}://" + ("BUCKET.ENDPOINT/PATH" if with_endpoint else "BUCKET/PATH")
        )
    odd = re.search(_ODD, rest)
    if not last or odd:
        part = odd[0].strip("/") if odd else ""
        what = "ends in '/'" if not last else f"has {'a blank' if part.isspace() else repr(part)} in its path"
        diagnostics.stop("E243", at, value=uri, what=what)
    one = last.lower().endswith(_GGUF)
    # The hub loader takes a last segment with any dot for one file, and writes it to that name
    # (docs/design/operator.md#sources).
    target = HOME + (last if one else f"models--{last}")
    if with_endpoint and not one and "." in last:
        diagnostics.stop("E246", at, value=last)
    config, uses = inputs.config, entry.get("uses") or ()
    if "endpoint" in uses:
        endpoint = config.get("loaders", loader, "endpoint") or ""
    own = str(entry.get("scheme", scheme))
    return Weights(
        kind="objectStore",
        path=target,
        address=uri,
        name=model.name,
        format="gguf" if one else "safetensors",
        one_file=one,
        origin=at,
        endpoint=endpoint,
        scheme=own,
        loader=loader,
        entry=entry,
        words={
            "Scheme": own, "Bucket": bucket, "Endpoint": endpoint, "Key": key, "Target": target, "OneFile": one,
            "Region": config.get("loaders", loader, "region") or "" if "region" in uses else "",
            "Anonymous": bool(config.get("loaders", loader, "anonymous")),
            "SecretAs": _secret_as(inputs, entry),
        },
    )  # fmt: skip


def _secret_as(inputs: Inputs, entry: Mapping[str, Any]) -> str:
    """How RenderConfig's Secret for this source is to be used: keyFile, hmac; '' when it names none."""
    for credential in entry.get("credentials") or ():
        chosen = inputs.config.get("secrets", credential["secret"])
        if isinstance(chosen, Mapping):
            return str(chosen.get("as", "keyFile"))
    return ""


def _oci(inputs: Inputs, model: OpenModel, uri: str, rest: str, at: Origin, diagnostics: Collector) -> Weights:
    image = re.fullmatch(_IMAGE, rest)
    if image is None:
        diagnostics.stop("E247", at, value=uri)
    last, tag, digest = image.groups()
    if not digest and tag in (None, "latest"):
        diagnostics.stop("E248", at, value=uri)
    target = str(inputs.config.get("targets", "kubernetes") or component_versions.components()["kubernetes"].default)
    if minor(target) < 35:
        diagnostics.stop("E249", at, target=target)
    mounted = f"{HOME}models--{last}"
    inside = inputs.config.get("loaders", "oci", "path", default="models").strip("/")
    return Weights(
        "oci",
        f"{mounted}/{inside}".rstrip("/"),
        uri,
        model.name,
        "safetensors",
        False,
        at,
        scheme="oci",
        host_path=mounted,
        image=rest,
    )


def _loader(inputs: Inputs, what: str) -> tuple[str | None, Mapping[str, Any]]:
    """The loader preset that serves this hub or URI scheme, and its entry for it."""
    for name in inputs.loaders:
        for entry in inputs.loaders[name].value["spec"]["sources"]:
            if what in entry["serves"]:
                return name, entry
    return None, {}
