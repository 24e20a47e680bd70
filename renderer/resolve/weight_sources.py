"""A model's weights: their source, their path in the container, and their loader (docs/design/operator.md#sources)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import Inputs, OpenModel, minor
from renderer.diagnostics import Collector, Origin, suggestion
from renderer.kubernetes import component_versions
from renderer.kubernetes.json_values import text_at
from renderer.plan import Body
from renderer.resolve.names import is_pullable
from renderer.resolve.weight_files import include_pattern, part_names, read_projector

if TYPE_CHECKING:
    from renderer.input_types import ModelHubSpec

MODELS_FOLDER = "/workspace/models/"
PULLED = "ollama"  # the scheme, and kind of source, of weights that the engine of that name pulls itself
_DEFAULT_REVISION = {"Huggingface": "main"}  # ModelScope's own: docs/design/operator.md#sources
_GGUF = ".gguf"
_PATTERNS: tuple[Literal["allowPatterns", "ignorePatterns"], ...] = ("allowPatterns", "ignorePatterns")
# The first two as text: few runs need them, and re caches compiled patterns.
_IMAGE = (  # registry/repository[:tag][@digest]; groups: last part of the repository, tag, digest
    r"[a-z0-9.-]+(?::\d+)?/(?:[a-z0-9._-]+/)*([a-z0-9]+(?:[._-]+[a-z0-9]+)*)(?::([\w.-]{1,128}))?(?:@(sha256:[0-9a-f]{64}))?"
)
_EMPTY_HINTS = {  # for a field of a source that is there without a value
    "modelHub": "write modelID below it, indented",
    "uri": "write the address after the colon, such as s3://bucket/path",
}
_GLOB = frozenset("*?[,")  # what the loader reads in a pattern
_TAGGED = re.compile(r"[\w.-]+:[\w.-]+")  # a model of the registry of PULLED
_PROVIDERS = (".amazonaws.com", "storage.googleapis.com")  # ends of hosts, where a bucket's name belongs
_INVALID = r"[\s?#]|(?:^|/)\.{1,2}(?:/|$)"
_CLAIM = r"[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?"
_CACHED_HUB = "Huggingface"  # whose cache a claim may hold
CACHE_ENV = ({"name": "HF_HUB_CACHE", "value": MODELS_FOLDER.rstrip("/")}, {"name": "HF_HUB_OFFLINE", "value": "1"})
_HUB_ADDRESS = r"https?://(?:huggingface\.co|hf\.co|modelscope\.cn/models)/([\w.-]+/[\w.-]+)/?"
_FIRST_MODELS = ("albert", "bert", "camembert", "ctrl", "distil", "gpt2", "openai", "roberta", "t5", "transfo", "xl")
"""How names of repositories begin that had no organisation in the first years; the hub still leads from them."""
_ID = re.compile(r"[._-]*[A-Za-z0-9][A-Za-z0-9._-]*(?:/[._-]*[A-Za-z0-9][A-Za-z0-9._-]*)?")


class ModelCache(Struct, frozen=True):
    """The cache of one model."""

    kind: str  # the key below `modelCache`
    folder: str  # of these weights in the cache
    origin: Origin
    spec: Body = {}  # of the claim that is rendered, {} without one
    claim: str = ""  # its name
    path: str = ""  # on the node

    @property
    def size(self) -> str:
        """What the claim that is rendered requests; '' without one."""
        return text_at(self.spec, "resources", "requests", "storage")


class Weights(Struct, frozen=True):
    """One model's weights."""

    kind: str  # the preset word Source
    path: str  # of the loaded weights in the container
    address: str  # for engines that load the weights themselves
    name: str
    format: str
    one_file: bool
    origin: Origin
    hub: str = ""
    revision: str = ""
    filename: str = ""
    endpoint: str = ""
    scheme: str = ""
    host_path: str = ""  # where a claim is mounted, or what of the node or an image is
    image: str = ""
    claim: str = ""  # the PersistentVolumeClaim that holds them
    sub_path: str = ""  # where they lie on it
    cache_env: tuple[Mapping[str, object], ...] = ()  # of the engine, where it loads from a hub's cache there
    files: tuple[str, ...] = ()  # what is loaded where that is several files, by their paths in `folder`
    folder: str = ""  # where these lie in the container
    projector: str = ""  # its path in the container
    cache: ModelCache | None = None  # where loaded weights are kept
    loader: str | None = None  # the name of the loader preset, None without one
    entry: Mapping[str, object] = {}  # its source
    engine_access: str | None = None  # the loader preset whose credentials an engine gets that loads the weights itself
    words: Mapping[str, object] = {}

    @property
    def root(self) -> str:
        """What is loaded or mounted: the file or folder that the engine opens, or the folder of several files."""
        return self.folder or self.path

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of what is loaded in the container."""
        return tuple(f"{self.folder}/{name}" for name in self.files) or (self.path,)


def has_usual_revision(weights: Weights) -> bool:
    """Whether weights lie in a hub under the revision that an engine asks for where nobody says one."""
    return bool(weights.hub) and weights.revision == _DEFAULT_REVISION.get(weights.hub)


def read_weights(inputs: Inputs, model: OpenModel, diagnostics: Collector) -> Weights:
    """The weights of `spec.source`. Raises Stop when it is not usable."""
    source = model.spec["source"]
    hub, uri = source.get("modelHub"), source.get("uri")
    if hub is not None and uri is not None:
        uri_origin = Origin(model.document, ("spec", "source", "uri"))
        if not _is_claim(uri):
            diagnostics.stop("E230", replace(uri_origin, key=True))
        return _cached_weights(inputs, model, hub, str(uri), uri_origin, diagnostics)
    if hub is not None:
        return _hub_weights(inputs, model, hub, Origin(model.document, ("spec", "source", "modelHub")), diagnostics)
    if uri is None:
        for field, hint in _EMPTY_HINTS.items():
            if model.document.is_empty("spec", "source", field):
                origin = Origin(model.document, ("spec", "source", field), key=True)
                diagnostics.stop("E227", origin, word=field, hint=hint)
        diagnostics.stop("E231", Origin(model.document, ("spec", "source")))
    return _uri_weights(inputs, model, str(uri), Origin(model.document, ("spec", "source", "uri")), diagnostics)


def _hub_weights(
    inputs: Inputs, model: OpenModel, hub: ModelHubSpec, origin: Origin, diagnostics: Collector
) -> Weights:
    kind, repo, filename = hub.get("name", "Huggingface"), hub.get("modelID") or "", hub.get("filename") or ""
    if not repo:
        diagnostics.add("E232", origin.at("modelID") if "modelID" in hub else replace(origin, key=True))
    if repo and not _ID.fullmatch(repo):
        hint = "write it as organisation/name: letters, digits, '-', '_' and '.'"
        if address := re.fullmatch(_HUB_ADDRESS, repo):
            hint = f"write modelID: {address[1]}"
        elif _TAGGED.fullmatch(repo):
            hint = f"write uri: {PULLED}://{repo} in place of modelHub"
        diagnostics.add("E233", origin.at("modelID"), value=repo, hint=hint)
    elif repo and kind == "Huggingface" and "/" not in repo and not repo.lower().startswith(_FIRST_MODELS):
        diagnostics.add("W925", origin.at("modelID"), value=repo)
    if "filename" in hub:
        if not filename or filename.startswith("/") or filename.endswith("/") or ".." in filename.split("/"):
            diagnostics.add("E234", origin.at("filename"), value=filename)
        if kind != "Huggingface":
            diagnostics.add("E235", origin.at("filename", key=True), hub=kind)
        for field in _PATTERNS:
            if field in hub:
                diagnostics.add("E236", origin.at(field, key=True), field=field)
    for field in _PATTERNS:
        for i, pattern in enumerate(hub.get(field) or ()):
            if not pattern:
                diagnostics.add("E237", origin.at(field, i), what="the pattern is empty", hint="leave it out")
            elif "," in pattern:
                what = f"the loader splits the pattern '{pattern}' at its comma"
                diagnostics.add("E237", origin.at(field, i), what=what, hint="write each pattern as an item of its own")
    revision = hub.get("revision") or _DEFAULT_REVISION.get(kind, "")
    allow = hub.get("allowPatterns") or []
    folder = f"{MODELS_FOLDER}models--{repo.replace('/', '--')}"
    files, projector = _files(model, filename, origin.at("filename"), diagnostics)
    for name in files:
        if not _GLOB.isdisjoint(name):
            what = f"the loader takes '{name}' for a pattern"
            diagnostics.add("E237", origin.at("filename"), what=what, hint="rename the file")
    gguf = filename.lower().endswith(_GGUF) or (bool(allow) and all(p.lower().endswith(_GGUF) for p in allow))
    loader, entry = _find_loader(inputs, kind)
    weights = Weights(
        kind="hub",
        path=MODELS_FOLDER + filename if filename else folder,
        address=repo,
        name=model.name,
        format="gguf" if gguf else "safetensors",
        one_file=bool(filename),
        origin=origin,
        hub=kind,
        revision=revision,
        filename=filename,
        loader=loader,
        entry=entry,
        engine_access=loader,
        words={
            "ModelID": repo, "Hub": kind, "Filename": "" if files else filename, "Revision": revision,
            "AllowPatterns": ",".join(files or allow), "IgnorePatterns": ",".join(hub.get("ignorePatterns") or []),
        },
    )  # fmt: skip
    return _of_files(weights, folder, files, projector)


def _of_files(weights: Weights, folder: str, files: tuple[str, ...], projector: str) -> Weights:
    """The weights with what `_files` has found, which lies in a folder of the container."""
    if not projector and not files:
        return weights
    path = f"{folder}/{projector}" if projector else ""
    if not files:
        return replace(weights, projector=path)
    return replace(weights, path=f"{folder}/{files[0]}", files=files, folder=folder, projector=path)


def _files(model: OpenModel, name: str, origin: Origin, diagnostics: Collector) -> tuple[tuple[str, ...], str]:
    """The files of weights of which the engine opens one, `name`, '' for a folder: () where that is all; and the
    projector among them.
    """
    if "projector" not in model.spec["source"] and not name.lower().endswith(_GGUF):
        return (), ""
    projector = read_projector(model, diagnostics)
    files = part_names(name, origin, diagnostics) if name else ()
    files = (*files, projector) if files and projector else files
    return files if len(files) > 1 else (), projector


def _uri_weights(inputs: Inputs, model: OpenModel, uri: str, origin: Origin, diagnostics: Collector) -> Weights:
    if uri.count("://") != 1:
        hint = _source_hint(inputs, uri) or "write it as s3://bucket/path"
        diagnostics.stop("E240", origin, value=uri, hint=hint)
    scheme, rest = uri.split("://")
    scheme = scheme.lower()
    if scheme == PULLED:
        if not is_pullable(rest):
            diagnostics.stop("E245", origin, value=uri)
        weights = Weights(PULLED, "", uri, rest, "gguf", False, origin, scheme=scheme)
        return _of_files(weights, "", *_files(model, "", origin, diagnostics))
    if scheme == "host":
        is_odd = ".." in rest.split("/") or ":" in rest
        if not rest.startswith("/") or posixpath.normpath(rest) in ("/", "//") or is_odd:
            diagnostics.stop("E244", origin, value=uri)
        is_file = rest.lower().endswith(_GGUF)
        folder, _, name = rest.rpartition("/") if is_file else (rest, "", "")
        files, projector = _files(model, name, origin, diagnostics)
        if files and not folder:  # that would be the whole node
            diagnostics.stop("E244", origin, value=uri)
        weights = Weights(
            "host",
            rest,
            rest,
            model.name,
            "gguf" if is_file else "safetensors",
            is_file,
            origin,
            scheme=scheme,
            host_path=folder if files else rest,
        )
        return _of_files(weights, folder, files, projector)
    if scheme == "pvc":
        return _claim_weights(model, uri, origin, diagnostics)
    if scheme == "oci":
        return _oci_weights(inputs, model, uri, rest, origin, diagnostics)
    loader, entry = _find_loader(inputs, scheme)
    if not loader:
        hint = _source_hint(inputs, uri) or suggestion(scheme, _schemes(inputs))
        diagnostics.stop("E241", origin, scheme=uri.partition("://")[0], hint=hint)
    return _object_store_weights(
        inputs=inputs,
        model=model,
        uri=uri,
        scheme=scheme,
        rest=rest,
        loader=loader,
        entry=entry,
        origin=origin,
        diagnostics=diagnostics,
    )


def _source_hint(inputs: Inputs, uri: str) -> str:
    """What to write in place of an address that is none of ours; '' where nobody can tell."""
    from renderer.foreign_words import source_hint  # few runs need it

    return source_hint(uri, _schemes(inputs))


def _schemes(inputs: Inputs) -> list[str]:
    """The schemes of addresses that pods can read."""
    entries = (entry for name in inputs.loaders for entry in inputs.loaders[name].value["spec"]["sources"])
    served = dict.fromkeys(name for entry in entries if "address" in entry for name in entry["serves"])
    return [*served, "host", "oci", "pvc", PULLED]


def _object_store_weights(
    inputs: Inputs,
    model: OpenModel,
    uri: str,
    scheme: str,
    rest: str,
    loader: str,
    entry: Mapping[str, Any],
    origin: Origin,
    diagnostics: Collector,
) -> Weights:
    with_endpoint = entry["address"] == "bucket.endpoint/path"
    bucket, dot, tail = rest.partition(".") if with_endpoint else (rest.partition("/")[0], ".", "")
    endpoint, slash, key = tail.partition("/") if with_endpoint else ("", *rest.partition("/")[1:])
    last = key.rpartition("/")[2]
    if not (dot and slash and bucket and key and (endpoint or not with_endpoint)) or "/" in bucket:
        diagnostics.stop(
            "E242",
            origin,
            value=uri,
            form=f"{scheme}://" + ("BUCKET.ENDPOINT/PATH" if with_endpoint else "BUCKET/PATH"),
        )
    if not with_endpoint and bucket.endswith(_PROVIDERS) and (hint := _source_hint(inputs, uri)):
        diagnostics.stop("E246", origin, value=uri, host=bucket, hint=hint)
    invalid = re.search(_INVALID, rest)
    if not last or invalid:
        part = invalid[0].strip("/") if invalid else ""
        problem = "ends in '/'" if not last else f"has {'whitespace' if part.isspace() else repr(part)} in its path"
        diagnostics.stop("E243", origin, value=uri, what=problem)
    is_file = last.lower().endswith(_GGUF)
    files, projector = _files(model, last if is_file else "", origin, diagnostics)
    key_folder = key.rpartition("/")[0] if files else key
    folder = f"{MODELS_FOLDER}models--{key_folder.rpartition('/')[2] or bucket}"
    target = folder if files or not is_file else MODELS_FOLDER + last
    engine_access = loader
    if entry.get("dotMeansFile") and (files or (not is_file and "." in last)):  # docs/design/operator.md#sources
        loader, entry = next((name, other) for name, other in _loaders(inputs, scheme) if "dotMeansFile" not in other)
    config, uses = inputs.config, entry.get("uses") or ()
    if "endpoint" in uses:
        endpoint = config.get("loaders", loader, "endpoint") or ""
    names = entry.get("buckets")
    is_own = "$" in bucket or ("endpoint" in uses and endpoint)  # filled in later, or of a store with other rules
    if names and not is_own and not re.fullmatch(names["pattern"], bucket):
        diagnostics.add("W928", origin, bucket=bucket, scheme=scheme, names=names["words"])
    own_scheme = str(entry.get("scheme", scheme))
    weights = Weights(
        kind="objectStore",
        path=target,
        address=uri,
        name=model.name,
        format="gguf" if is_file else "safetensors",
        one_file=is_file,
        origin=origin,
        endpoint=endpoint,
        scheme=own_scheme,
        loader=loader,
        entry=entry,
        engine_access=engine_access,
        words={
            "Scheme": own_scheme, "Bucket": bucket, "Endpoint": endpoint, "Key": key_folder, "Target": target,
            "OneFile": is_file and not files, "Include": include_pattern(files) if files else "",
            "Region": config.get("loaders", loader, "region") or "" if "region" in uses else "",
            "Anonymous": bool(config.get("loaders", loader, "anonymous")),
            "SecretAs": _secret_use(inputs, entry),
        },
    )  # fmt: skip
    return _of_files(weights, folder, files, projector)


def _secret_use(inputs: Inputs, entry: Mapping[str, Any]) -> str:
    """How the loader uses RenderConfig's Secret for this source: keyFile or hmac; '' without one."""
    for credential in entry.get("credentials") or ():
        chosen = inputs.config.get("secrets", credential["secret"])
        if isinstance(chosen, Mapping):
            return str(chosen.get("as", "keyFile"))
    return ""


def _is_claim(uri: str) -> bool:
    return uri.lower().startswith("pvc://") and uri.count("://") == 1


def _claim_address(uri: str, origin: Origin, diagnostics: Collector) -> tuple[str, str, str]:
    """The claim, the path in it and the layout of pvc://CLAIM/PATH?layout=…"""
    rest, question, query = uri.partition("://")[2].partition("?")
    claim, _, path = rest.partition("/")
    if not re.fullmatch(_CLAIM, claim):
        diagnostics.stop("E310", origin, value=uri)
    if question and query != "layout=hub":
        diagnostics.stop("E311", origin, value=f"?{query}")
    invalid = re.search(_INVALID, path)
    if path.endswith("/") or "//" in f"/{path}":
        diagnostics.stop("E243", origin, value=uri, what="ends in '/'" if path.endswith("/") else "has an empty part")
    if invalid:
        part = invalid[0].strip("/")
        what = f"has {'whitespace' if part.isspace() else repr(part)} in its path"
        diagnostics.stop("E243", origin, value=uri, what=what)
    return claim, path, query


def _claim_weights(model: OpenModel, uri: str, origin: Origin, diagnostics: Collector) -> Weights:
    """Weights that lie ready on a PersistentVolumeClaim."""
    claim, path, layout = _claim_address(uri, origin, diagnostics)
    if layout:
        diagnostics.stop("E312", origin, value=uri)
    last = path.rpartition("/")[2] or claim
    is_file = path.lower().endswith(_GGUF)
    files, projector = _files(model, last if is_file else "", origin, diagnostics)
    path_folder = path.rpartition("/")[0] if files else path
    folder = f"{MODELS_FOLDER}models--{path_folder.rpartition('/')[2] or claim}"
    target = folder if files or not is_file else MODELS_FOLDER + last
    weights = Weights(
        "pvc",
        target,
        uri,
        model.name,
        "gguf" if is_file else "safetensors",
        is_file,
        origin,
        scheme="pvc",
        host_path=target,
        claim=claim,
        sub_path=path_folder,
    )
    return _of_files(weights, folder, files, projector)


def _cached_weights(
    inputs: Inputs, model: OpenModel, hub: ModelHubSpec, uri: str, origin: Origin, diagnostics: Collector
) -> Weights:
    """Weights in a hub's cache on a PersistentVolumeClaim, which the engine opens by the hub's id."""
    claim, path, layout = _claim_address(uri, origin, diagnostics)
    if not layout:
        diagnostics.stop("E313", origin, claim=claim)
    hub_origin = Origin(model.document, ("spec", "source", "modelHub"))
    weights = _hub_weights(inputs, model, hub, hub_origin, diagnostics)
    if weights.hub != _CACHED_HUB:
        diagnostics.stop("E314", hub_origin.at("name"), hub=weights.hub, known=_CACHED_HUB)
    if weights.filename:
        diagnostics.stop("E315", hub_origin.at("filename"), name=weights.filename, claim=claim)
    return replace(
        weights,
        path=weights.address,
        host_path=MODELS_FOLDER,
        claim=claim,
        sub_path=path,
        cache_env=CACHE_ENV,
        loader=None,
        engine_access=None,
        entry={},
    )


def _oci_weights(
    inputs: Inputs, model: OpenModel, uri: str, rest: str, origin: Origin, diagnostics: Collector
) -> Weights:
    image = re.fullmatch(_IMAGE, rest)
    if image is None:
        diagnostics.stop("E247", origin, value=uri)
    last, tag, digest = image.groups()
    if not digest and tag in (None, "latest"):
        diagnostics.stop("E248", origin, value=uri)
    target = str(inputs.config.get("targets", "kubernetes") or component_versions.components()["kubernetes"].default)
    if minor(target) < 35:
        diagnostics.stop("E249", origin, target=target)
    mount_path = f"{MODELS_FOLDER}models--{last}"
    folder = inputs.config.get("loaders", "oci", "path", default="models").strip("/")
    path = f"{mount_path}/{folder}".rstrip("/")
    weights = Weights(
        "oci",
        path,
        uri,
        model.name,
        "safetensors",
        False,
        origin,
        scheme="oci",
        host_path=mount_path,
        image=rest,
    )
    return _of_files(weights, path, *_files(model, "", origin, diagnostics))


def _find_loader(inputs: Inputs, source: str) -> tuple[str | None, Mapping[str, Any]]:
    """The name of the loader preset for a hub or URI scheme, None without one, and its entry for that source."""
    return next(_loaders(inputs, source), (None, {}))


def _loaders(inputs: Inputs, source: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The loader presets for a hub or URI scheme by name, each with its entry for that source; the usual one first."""
    for name in inputs.loaders:
        for entry in inputs.loaders[name].value["spec"]["sources"]:
            if source in entry["serves"]:
                yield name, entry
