"""A workload that serves a model today, in Kubernetes' words, whoever described it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from renderer.diagnostics import Origin, Path
from renderer.kubernetes.variable_references import ConfigMaps
from renderer.yamlio import Document

Body = Mapping[str, Any]


class ServedModel(Struct, frozen=True, kw_only=True):
    """The model, where its source says it apart from the engine's command line."""

    uri: str  # hf://org/name, pvc://claim/path, s3://bucket/path …
    name: str  # under which clients ask for it, '' where nobody says
    origin: Origin  # of the uri
    path: str = ""  # where the engine opens it, as the command line may name it, such as /mnt/models
    adapters: tuple[tuple[str, str], ...] = ()  # the name and uri of each

    @property
    def is_mounted(self) -> bool:
        """Whether somebody mounts it where the engine opens it."""
        return self.path.startswith("/")


class ServingWorkload(Struct, frozen=True, kw_only=True):
    """A workload that serves a model: its replicas, and the template of its pods as Kubernetes would get it."""

    document: Document  # the object that describes it
    kind: str  # of that object, such as Deployment, LLMInferenceService or modelSpec
    name: str
    namespace: str = ""  # '' where none is said
    labels: Body = {}  # of the workload itself
    annotations: Body = {}
    replicas: int | None = None  # None where nobody says a number
    replicas_origin: Origin | None = None
    rollout: Body = {}  # maxUnavailable and maxSurge, where they are said
    as_deployment: bool = False  # a Deployment runs it, and should go on doing so
    template: Body  # metadata and spec of a pod; of several hosts the worker's
    leader_template: Body | None = None  # of several hosts, where leaders differ from workers
    hosts: int = 1  # pods of a replica
    origin_of: Callable[[Path], Origin]  # of a field of `template`, or of what it was made from
    leader_origin_of: Callable[[Path], Origin] | None = None
    config_maps: ConfigMaps = {}  # those of its namespace that lie beside it
    model: ServedModel | None = None
    spec: Body = {}  # fields of a Playground's spec that the source says in its own words: elasticConfig, parallelism …
    may_add_certificate: bool = False  # whoever runs it can give the engine one, which the pod does not tell
    device_claim: Body = {}  # `claims` of a flavor: the devices that its controller claims for each pod
    engine: str = ""  # the preset, where the source's kind implies it and the pod does not tell

    def engine_origin_of(self, field: Path) -> Origin:
        """Of a field of the template whose pod answers requests: of several hosts the leader's."""
        return (self.leader_origin_of or self.origin_of)(field)

    @property
    def key(self) -> tuple[str, str]:
        """Namespace, `default` where none is said, and name."""
        return self.namespace or "default", self.name

    @property
    def title(self) -> str:
        """Such as "Deployment llm/chat"."""
        return f"{self.kind} {'/'.join(filter(None, (self.namespace, self.name)))}"
