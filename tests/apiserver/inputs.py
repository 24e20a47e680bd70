"""Made-up inputs of all kinds, as a user may write them, and RenderConfigs to render them under.

`hypothesis` draws them: the same ones every time for one version of it. They are meant to be valid; the few that are
not (a draft of another format, two options that exclude each other) are left to `llmaz render` to refuse.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from renderer import load
from renderer.api import BackendRuntime
from renderer.engines.image_version import version_of_tag
from renderer.engines.option_lists import Option, read_option_list
from renderer.load.option_lists import OptionListReader

Node: TypeAlias = dict[str, Any]
Strategy: TypeAlias = st.SearchStrategy[Any]
T = TypeVar("T")

PRESETS = Path(__file__).resolve().parents[2] / "presets" / "backends"


class Input(NamedTuple):
    """One Playground or Service, and the models and runtimes that it needs."""

    documents: list[Node]


def drawn(strategy: st.SearchStrategy[T], count: int) -> list[T]:
    """So many different examples; the same ones every time."""
    examples: list[T] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: T) -> None:
        examples.append(example)

    collect()
    return examples


# ---- words ----

NAMESPACES = ("default", "llm", "team-a", "team-b", "0-digits-first", "n" * 63)
label = st.from_regex(r"[a-z]([a-z0-9-]{0,28}[a-z0-9])?", fullmatch=True)
label_value = st.from_regex(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,30}[A-Za-z0-9])?)?", fullmatch=True)
label_key = st.builds(
    lambda domain, name: f"{domain}{name}",
    st.sampled_from(["", "example.com/", "a.b-c.d0/"]),
    st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,20}[A-Za-z0-9])?", fullmatch=True),
)
# What some reader of YAML or a shell takes for something else than a text.
LOOKALIKES = (
    "", " ", "y", "No", "off", "null", "~", "1e3", "0x1F", "010", "1:20", "1_000", ".5", "2001-01-01", "=", "<<", "- a",
    "a: b", "a #b", "{a}", "[a]", "&a", "*a", "!a", "'", '"', "%", "@", "`", "\\n", "\\", "$(A)", "$$(A)", "${A}",
    "{{ a }}", "a\nb", "a\nb\n", "\ta", "é", "漢字", "🦙", "\u2028", "\u00a0", "x" * 300,
)  # fmt: skip
text = st.one_of(
    st.sampled_from(LOOKALIKES),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"]), max_size=20),
)
labels = st.dictionaries(label_key, label_value, min_size=1, max_size=3)
notes = st.dictionaries(label_key, text, min_size=1, max_size=2)
served_name = st.one_of(
    st.sampled_from(
        ["qwen2.5-coder:7b", "org/Model-7B", "a b", "8", "true", "1e3", "name@rev", "ключ", "🦙", "a" * 253]
    ),
    st.text(string.ascii_letters + string.digits + "._-:/@+ ", min_size=1, max_size=30).filter(str.strip),
)
memory = st.sampled_from(["64Mi", "1Gi", "1024Mi", "1.5Gi", "2e9", "1000000k", "128974848", "3G", 2147483648])
cpu = st.sampled_from(["1", "500m", "1000m", "0.1", "2.50", 3, 1.5, "1e1", "100u"])


def one_of(*values: Any) -> Strategy:
    return st.sampled_from(values)


def some(items: Strategy, most: int = 3, by: Callable[[Any], Any] | None = None) -> Strategy:
    """A list of one to `most`."""
    return st.lists(items, min_size=1, max_size=most, unique_by=by)


def record(needed: Node | None = None, /, **optional: Any) -> Strategy:
    """A map with these keys; each optional one is there or not."""
    return st.fixed_dictionaries(dict(needed or {}), optional=optional)


def filled(strategy: Strategy) -> Strategy:
    return strategy.filter(bool)


# ---- parts of pods ----

# A first word with blanks is no program (E529).
command = some(filled(text)).map(lambda words: ["".join(words[:1]).replace(" ", "") or "run", *words[1:]])

env_name = st.one_of(
    st.from_regex(r"[A-Z_][A-Z0-9_]{0,12}", fullmatch=True), one_of("lower.dots", "with-dash", "A1", "_", "http_proxy")
)
env_value = st.one_of(
    st.builds(lambda value: {"value": value}, text),
    st.builds(
        lambda where, name, key, more: {"valueFrom": {where: {"name": name, "key": key, **more}}},
        one_of("secretKeyRef", "configMapKeyRef"),
        label,
        one_of("token", "a.b", "A_B-c"),
        record(optional=st.booleans()),
    ),
    st.builds(
        lambda path: {"valueFrom": {"fieldRef": {"fieldPath": path}}},
        one_of("metadata.name", "metadata.labels['app']", "status.podIP", "spec.nodeName"),
    ),
    st.builds(
        lambda resource, more: {"valueFrom": {"resourceFieldRef": {"resource": resource, **more}}},
        one_of("limits.cpu", "requests.memory", "limits.ephemeral-storage"),
        record(divisor=one_of("1")),
    ),
)
envs = some(
    st.builds(lambda name, value: {"name": name, **value}, env_name, env_value), 4, lambda variable: variable["name"]
)
toleration = st.one_of(
    record({"key": label_key, "operator": one_of("Exists")}, effect=one_of("NoSchedule", "PreferNoSchedule")),
    record({"key": label_key, "value": label_value}, operator=one_of("Equal"), effect=one_of("NoSchedule")),
    record(
        {"key": label_key, "operator": one_of("Exists"), "effect": one_of("NoExecute")}, tolerationSeconds=one_of(0, 30)
    ),
    st.just({"operator": "Exists"}),
)
label_selector = record(
    matchLabels=labels,
    matchExpressions=some(
        st.one_of(
            record({"key": label_key, "operator": one_of("Exists", "DoesNotExist")}),
            record({"key": label_key, "operator": one_of("In", "NotIn"), "values": some(label_value, 2)}),
        )
    ),
)
network_peer = st.one_of(
    record({"podSelector": label_selector}, namespaceSelector=label_selector),
    record({"namespaceSelector": label_selector}),
    record(
        {
            "ipBlock": one_of(
                {"cidr": "10.1.0.0/16", "except": ["10.1.2.0/24"]}, {"cidr": "fd00::/8"}, {"cidr": "0.0.0.0/0"}
            )
        }
    ),
)
spread = record(
    {
        "maxSkew": st.integers(1, 3),
        "topologyKey": one_of("topology.kubernetes.io/zone", "kubernetes.io/hostname"),
        "whenUnsatisfiable": one_of("ScheduleAnyway"),
    },
    labelSelector=st.just({"matchLabels": {"app": "a"}}),
    nodeAffinityPolicy=one_of("Honor", "Ignore"),
)
action = st.one_of(
    st.builds(
        lambda path, port: {"httpGet": {"path": path, "port": port}}, one_of("/", "/health?a=b"), one_of(8080, "http")
    ),
    st.builds(lambda port: {"tcpSocket": {"port": port}}, one_of(8080, "http")),
    st.builds(lambda words: {"exec": {"command": words}}, command),
    st.just({"grpc": {"port": 8080, "service": "a"}}),
)
probe = st.builds(
    lambda what, more: {**what, **more},
    action,
    record(periodSeconds=st.integers(1, 60), timeoutSeconds=st.integers(1, 60), failureThreshold=st.integers(1, 900)),
)
security = record(
    runAsUser=one_of(1000, 0),
    runAsGroup=one_of(1000),
    readOnlyRootFilesystem=st.booleans(),
    capabilities=st.just({"drop": ["ALL"], "add": ["IPC_LOCK"]}),
)
sidecar = record(
    {"name": label.map(lambda name: f"x-{name}"), "image": one_of("registry.example/proxy:v2", "busybox")},
    args=some(text),
    command=command,
    env=envs,
    imagePullPolicy=one_of("Always", "IfNotPresent", "Never"),
    resources=record(requests=filled(record(cpu=cpu, memory=memory))),
    securityContext=security,
    workingDir=one_of("/work"),
    tty=st.booleans(),
)
node_affinity = st.builds(
    lambda key, values, weight: {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": values}]}]
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": weight, "preference": {"matchExpressions": [{"key": key, "operator": "Exists"}]}}
            ],
        }
    },
    label_key,
    some(label_value),
    st.integers(1, 100),
)
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Ti"}}}
volume_source = one_of(
    {"emptyDir": {}},
    {"emptyDir": {"medium": "Memory", "sizeLimit": "1024Mi"}},
    {"hostPath": {"path": "/mnt/cache", "type": "DirectoryOrCreate"}},
    {"persistentVolumeClaim": {"claimName": "cache", "readOnly": True}},
    {"configMap": {"name": "settings", "items": [{"key": "a.json", "path": "b/a.json"}], "defaultMode": 0o440}},
    {"secret": {"secretName": "certificate", "optional": True}},
    {"projected": {"sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}}]}},
    {"ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}},
)  # fmt: skip
pod_fields = {
    "nodeSelector": labels,
    "tolerations": some(toleration),
    "serviceAccountName": label,
    "priorityClassName": label,
    "runtimeClassName": label,
    "schedulerName": label,
    "terminationGracePeriodSeconds": one_of(40, 60, 300, 600),
    "hostIPC": st.booleans(),
    "dnsPolicy": one_of("ClusterFirst", "Default"),
    "hostAliases": st.just([{"ip": "10.0.0.1", "hostnames": ["proxy", "proxy.example.com"]}]),
    "imagePullSecrets": some(st.builds(lambda name: {"name": name}, label), by=lambda secret: secret["name"]),
    "affinity": node_affinity,
    "topologySpreadConstraints": some(spread, 1),
    "securityContext": record(fsGroup=one_of(2000), supplementalGroups=st.just([1, 2])),
}


# ---- autoscaling ----

selector = record(matchLabels=labels)
AVERAGE = {"type": "AverageValue", "averageValue": "2500m"}
metric = st.one_of(
    st.builds(
        lambda name, share: {
            "type": "Resource",
            "resource": {"name": name, "target": {"type": "Utilization", "averageUtilization": share}},
        },
        one_of("cpu", "memory"),
        st.integers(1, 200),
    ),
    st.just(
        {
            "type": "ContainerResource",
            "containerResource": {"name": "cpu", "container": "model-runner", "target": AVERAGE},
        }
    ),
    st.builds(
        lambda name, labels_: {
            "type": "Pods",
            "pods": {"metric": {"name": name, "selector": labels_}, "target": AVERAGE},
        },
        one_of("requests_waiting", "vllm:num_requests_waiting"),
        filled(selector),
    ),
    st.builds(
        lambda target: {"type": "External", "external": {"metric": {"name": "queue"}, "target": target}},
        one_of({"type": "Value", "value": 30}, AVERAGE),
    ),
    st.just(
        {
            "type": "Object",
            "object": {
                "describedObject": {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "name": "main"},
                "metric": {"name": "requests"},
                "target": {"type": "Value", "value": "2k"},
            },
        }
    ),
)
policies = some(
    record({"type": one_of("Pods", "Percent"), "value": st.integers(1, 100), "periodSeconds": st.integers(1, 1800)})
)
scaling = record(
    {"policies": policies},
    selectPolicy=one_of("Max", "Min", "Disabled"),
    stabilizationWindowSeconds=st.integers(0, 3600),
)
trigger = record({"metrics": some(metric, 2)}, behavior=filled(record(scaleUp=scaling, scaleDown=scaling)))
elastic = st.builds(
    lambda low, more, rest: {"minReplicas": low, "maxReplicas": low + more, **rest},
    st.integers(1, 3),
    st.integers(0, 20),
    record({"scaleTrigger": record({"hpa": trigger})}),
)


# ---- models ----


class Engine(NamedTuple):
    """What a preset says, as far as an input has to fit it."""

    name: str
    formats: Sequence[str]
    sources: Sequence[str]
    streams: bool
    accelerators: Sequence[str]
    offloads: Sequence[str]
    bare: bool
    options: Sequence[Option]
    drafts: bool
    own_hub: bool
    pooled: bool
    adapters: bool = False
    over_hosts: bool = False
    drafts_with_sizes: bool = True  # a draft model beside data or pipeline parallelism
    disaggregates: Sequence[str] = ()
    has_parts: bool = False
    takes_template: bool = False


RESOURCES = {
    "nvidia": ("nvidia.com/gpu", "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"),
    "amd": ("amd.com/gpu",),
    "intel": ("gpu.intel.com/xe", "gpu.intel.com/i915"),
}
# Flavors of the RenderConfig's catalog that claim devices, each by its accelerator.
CLAIMING = {accelerator: f"claims-{accelerator}" for accelerator in ("nvidia", "amd", "intel")}
# What the renderer decides, and what ends the server at once or needs another option beside it.
SET = ("--host", "--port", "--served-model-name", "--model", "--model-path", "--alias", "--config", "--nnodes")


def engines() -> list[Engine]:
    """All presets."""
    presets = []
    for path in sorted(PRESETS.glob("*.yaml")):
        spec = yaml.safe_load(path.read_text("utf-8"))["spec"]
        engine = spec["engine"]
        grouped = {option for group in engine["options"].get("groups", {}).values() for option in group}
        grouped |= {*engine.get("projector", ()), *engine.get("chatTemplate", {}).get("options", ())}
        presets.append(
            Engine(
                name=path.stem,
                formats=engine["formats"],
                sources=engine["sources"],
                streams="stream" in engine,
                accelerators=[
                    variant["accelerator"]
                    for variant in engine["variants"]
                    if variant["accelerator"] in (*RESOURCES, "none")
                ],
                offloads=engine.get("kvCacheOffloading", {}).get("evictionPolicies", ()),
                bare=any(variant.get("unflavored") for variant in engine["variants"]),
                options=[option for option in listed_options(path.stem) if option.name not in {*SET, *grouped}],
                drafts=any(config["name"] == "speculative-decoding" for config in spec["recommendedConfigs"]),
                own_hub="hubs" in engine,
                pooled="waiting" in engine.get("metrics", ()) and engine["servedName"] == "option",
                adapters="adapters" in engine,
                over_hosts="multiHost" in engine,
                drafts_with_sizes={"draftWithData", "draftWithPipeline"}.isdisjoint(engine.get("unsupported", ())),
                disaggregates=engine.get("disaggregation", {}).get("accelerators", ()),
                has_parts="parts" in engine,
                takes_template="chatTemplate" in engine,
            )
        )
    return presets


def listed_options(engine: str) -> list[Option]:
    """The options that a preset's version has and that take a text, or nothing."""
    document = load.preset(f"backends/{engine}")
    runtime = BackendRuntime(engine, document.value["spec"], document, ours=True)
    version = version_of_tag(runtime.spec["engine"], runtime.spec["version"], trusted=True)
    listed = read_option_list(OptionListReader(), runtime, version)
    options = {option.name: option for option in listed.options.values()} if listed else {}
    return [option for option in options.values() if option.arity in "01+" and not option.type]


ENGINES = engines()
OWN = Engine(
    name="",
    formats=("safetensors", "gguf"),
    sources=("hub", "objectStore", "host", "oci", "pvc"),
    streams=False,
    accelerators=("nvidia", "amd"),
    offloads=(),
    bare=True,
    options=(),
    drafts=True,
    own_hub=False,
    pooled=False,
)
# A claim, the node's disk (refused under `restricted`, so rarely alone), or a claim of each pod.
model_cache = st.one_of(
    st.builds(
        lambda size, more: {"pvc": {"size": size, **more}},
        one_of("20Gi", "1.5Ti", 10**10),
        record(storageClassName=label, accessModes=one_of(["ReadWriteMany"], ["ReadOnlyMany", "ReadWriteMany"])),
    ),
    st.builds(lambda name: {"pvc": {"claimName": name}}, label),
    st.builds(
        lambda size, more: {"perPod": {"size": size, **more}}, one_of("20Gi", "1000Mi"), record(storageClassName=label)
    ),
)
repository = st.builds(
    lambda org, name: f"{org}/{name}",
    st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,10}", fullmatch=True),
    st.from_regex(r"[A-Za-z][A-Za-z0-9._-]{0,20}[A-Za-z0-9]", fullmatch=True),
)
folder = st.from_regex(r"[a-z][a-z0-9_-]{0,10}(/[a-z][A-Za-z0-9_-]{0,10}){0,2}", fullmatch=True)
revision = one_of("main", "v1.0", "refs/pr/1", "0123456789abcdef0123456789abcdef01234567", "1e3")
patterns = some(one_of("*.safetensors", "*.json", "original/*", "tokenizer*", "[a-c]*.bin"))
DIGEST = "sha256:" + "0123456789abcdef" * 4


@st.composite
def source(draw: st.DrawFn, engine: Engine, form: str, mark: str) -> Node:
    """Where weights of that format are, as the engine can take them, in as many files as it takes; `mark` begins the
    name of file or folder.
    """
    place = draw(single_source(engine, form, mark))
    is_file = "filename" in place.get("modelHub", {}) or str(place.get("uri")).endswith(".gguf")
    if engine.has_parts and is_file and draw(st.booleans()):
        holder, key = (place["modelHub"], "filename") if "modelHub" in place else (place, "uri")
        holder[key] = holder[key].removesuffix(".gguf") + draw(one_of(".gguf", "-00001-of-00003.gguf"))
        place["projector"] = draw(one_of("mmproj-F16.gguf", "vision/mmproj.gguf"))
    return place


@st.composite
def single_source(draw: st.DrawFn, engine: Engine, form: str, mark: str) -> Node:
    """Such a place with one file or one folder."""
    kind = draw(
        st.sampled_from([source_kind for source_kind in engine.sources if form == "gguf" or source_kind != "ollama"])
    )
    file = f"{mark}{draw(st.from_regex(r'[a-z][a-z0-9-]{0,8}', fullmatch=True))}.gguf"
    if kind == "ollama":
        return {"uri": f"ollama://{draw(one_of('qwen2.5:0.5b', 'llama3', 'library/phi:latest'))}"}
    repo = repository.map(lambda name: mark + name)
    if kind == "hub" and form == "gguf":
        return {"modelHub": draw(record({"modelID": repo, "filename": st.just(file)}, revision=revision))}
    if kind == "hub":
        hub = (
            one_of("Huggingface", "ModelScope") if engine.name not in ("tensorrt-llm", "tgi") else one_of("Huggingface")
        )
        fields = record({"modelID": repo}, name=hub, revision=revision, allowPatterns=patterns, ignorePatterns=patterns)
        return {"modelHub": draw(fields)}
    path = draw(folder) + (f"/{file}" if form == "gguf" else f"/{mark}weights")
    if kind == "host":
        return {"uri": f"host:///{path}"}
    if kind == "pvc":
        return {"uri": f"pvc://{draw(label)}/{path}"}
    if kind == "oci":
        tag = draw(one_of(f"@{DIGEST}", f":v1@{DIGEST}", ":v1.2"))
        return {"uri": f"oci://registry.example:5000/models/{mark}{draw(label)}{tag}"}
    return {
        "uri": f"{draw(one_of('s3://bucket', 'gs://bucket.a', 'gcs://bucket', 'oss://bucket.oss.example.com', 'S3://B'))}/{path}"
    }


def _is_loaded(source: Node) -> bool:
    """Whether a loader brings the weights, which a cache then keeps."""
    return not str(source.get("uri", "")).startswith(("host:", "oci:", "ollama:", "pvc:"))


@st.composite
def flavors(draw: st.DrawFn, engine: Engine) -> list[Node]:
    """Up to eight; mostly alike in what they ask for, so that one pod may run on each. Or one that claims devices."""
    accelerator = draw(st.sampled_from(engine.accelerators))
    if accelerator in CLAIMING and draw(st.integers(0, 4)) == 0:
        return [{"name": CLAIMING[accelerator]}]
    counts = (1, 1, 1, "2", 4, 8)
    resource = draw(st.sampled_from(RESOURCES[accelerator])) if accelerator != "none" else ""
    count = draw(st.sampled_from(counts)) if "mig" not in resource else 1
    alike = draw(st.integers(0, 3)) > 0
    drawn_flavors = []
    for name in draw(st.lists(label, min_size=1, max_size=draw(one_of(1, 2, 3, 8)), unique=True)):
        own = count if alike or "mig" in resource else draw(st.sampled_from(counts))
        flavor: Node = {"name": name, **({"limits": {resource: own}} if resource else {})}
        if draw(st.integers(0, 5)) == 0:
            flavor.setdefault("limits", {})["rdma/hca"] = 1
        if draw(st.booleans()):
            flavor["nodeSelector"] = draw(labels)
        if accelerator == "nvidia" and draw(st.integers(0, 3)) == 0:
            flavor["accelerator"] = draw(one_of("h100-80g", "l4-24g"))
        params = {"INSTANCE-TYPE": label_value.filter(bool), "MAX-MODEL-LEN": one_of("4096", "131072"), "own": text}
        if accelerator != "none":
            params["TP"] = one_of("1")
        if draw(st.booleans()):
            flavor["params"] = draw(filled(record(**params)))
        drawn_flavors.append(flavor)
    return drawn_flavors


@st.composite
def model(draw: st.DrawFn, engine: Engine, form: str, *, draft: bool = False) -> Node:
    """An OpenModel, still without a name."""
    spec: Node = {"familyName": draw(label_value), "source": draw(source(engine, form, "d" if draft else "m"))}
    if not draft and (not engine.bare or draw(st.booleans())):
        spec["inferenceConfig"] = {"flavors": draw(flavors(engine))}
    if not draft and draw(st.booleans()):
        more = record(
            servedModelName=served_name,
            ownedBy=text,
            **({"modelCache": model_cache} if _is_loaded(spec["source"]) else {}),
            createdAt=one_of("2026-01-31T12:00:00Z"),
            facts=record(
                parameters=one_of("8.2B", "500M"),
                weightsGiB=one_of(0.5, 16.4),
                contextLength=one_of(32768),
                attention=one_of({"layers": 32, "kvHeads": 8, "headDim": 128}, {"layers": 61, "latentDim": 512}),
            ),
        )
        spec |= draw(more)
    if engine.name and not draft and draw(st.integers(0, 3)) == 0:
        spec["engines"] = {engine.name: draw(filled(record(envs=envs)))}
    return {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {}, "spec": spec}


# ---- runtimes ----

runtime_args = some(
    one_of("--model", "{{ .ModelPath }}", "{{.ModelName}}", '--json={"a": {"b": 1}}', "--port", "8080", "a b"), 6
)
resources = filled(
    record(
        requests=filled(record(cpu=cpu, memory=one_of("64Mi", "128974848", "1Gi"))),
        limits=filled(record(memory=one_of("1Gi", "2147483648", "3G"), **{"ephemeral-storage": one_of("10Gi")})),
    )
)
own_config = record(
    {"args": runtime_args}, resources=resources, sharedMemorySize=memory, scaleTrigger=record({"hpa": trigger})
)
own_runtime = record(
    {
        "image": one_of("registry.example/engine", "engine", "docker.io/library/engine"),
        "version": one_of("v1.2.3", "latest", "1.0-cuda_12"),
        "recommendedConfigs": st.builds(
            lambda plain, draft, tuned: [
                {**plain, "name": "default"},
                {**draft, "name": "speculative-decoding", "args": [*draft["args"], "{{ .DraftModelPath }}"]},
                {**tuned, "name": "tuned"},
            ],
            own_config,
            own_config,
            own_config,
        ),
    },
    command=command,
    envs=envs,
    lifecycle=st.builds(lambda seconds: {"preStop": {"sleep": {"seconds": seconds}}}, st.integers(1, 60)),
    livenessProbe=probe,
    readinessProbe=probe,
    startupProbe=probe,
)


# ---- Playgrounds and Services ----

pod_template = filled(
    record(
        metadata=filled(record(labels=labels, annotations=notes)),
        spec=st.builds(
            lambda fields, containers, volumes: {**fields, **containers, **volumes},
            record(**{key: value for key, value in pod_fields.items() if key != "schedulerName"}),
            record(
                containers=st.builds(
                    lambda more, runner: [*more, *([{**runner, "name": "model-runner"}] if runner else [])],
                    some(sidecar, 2, lambda container: container["name"]),
                    record(
                        imagePullPolicy=one_of("Always"),
                        workingDir=one_of("/work"),
                        securityContext=security,
                        readinessProbe=record(failureThreshold=st.integers(1, 9)),
                        stdin=st.booleans(),
                    ),
                )
            ),
            record(
                volumes=st.builds(
                    lambda names, kinds: [{"name": f"x-{n}", **k} for n, k in zip(names, kinds, strict=False)],
                    st.lists(label, min_size=1, max_size=2, unique=True),
                    st.lists(volume_source, min_size=2, max_size=2),
                )
            ),
        ),
    )
)


WORDS = ("1", "auto", "0.9", "true", "/a/b.json", "é", '{"a":1}')  # values of options that take any


@st.composite
def arguments(draw: st.DrawFn, engine: Engine) -> list[str]:
    """Options that the engine has, in the forms in which it takes them."""
    args = []
    options = [option for option in engine.options if option.name not in ("--help", "--version")]  # they only print
    for option in draw(
        st.lists(st.sampled_from(options), min_size=1, max_size=4, unique_by=lambda option: option.name)
    ):
        word = draw(one_of(*(option.choices.values or WORDS)))
        if option.arity == "0":
            args.append(option.name)
        elif option.arity == "1" and engine.name != "llamacpp" and draw(st.booleans()):
            args.append(f"{option.name}={word}")
        else:
            args += [option.name, word]
    return args


FRONT_PORT = 9000


# Sizes that go with any number of accelerators that a flavor has here.
tensor_over_hosts = record({"tensor": one_of(16, 32)}, expert=st.booleans())
parallelism = st.one_of(
    record({"pipeline": one_of(2, 3)}),
    tensor_over_hosts,
    record({"data": one_of(8, 16)}, expert=st.booleans()),
)


@st.composite
def with_front(draw: st.DrawFn, pod_template_: Node) -> Node:
    """The podTemplate with a container that answers for the engine, beside it or started before it."""
    front: Node = {"name": "front", "image": "registry.example/front:v1"}
    front["ports"] = [draw(record({"containerPort": st.just(FRONT_PORT)}, name=one_of("front", "web")))]
    readiness = st.just({"httpGet": {"path": "/ready", "port": FRONT_PORT}, "periodSeconds": 5})
    front |= draw(record(lifecycle=st.just({"preStop": {"sleep": {"seconds": 5}}}), readinessProbe=readiness))
    spec = dict(pod_template_.get("spec", {}))
    if draw(st.booleans()):
        spec["containers"] = [*spec.get("containers", []), front]
    else:
        spec["initContainers"] = [*spec.get("initContainers", []), {**front, "restartPolicy": "Always"}]
    return {**pod_template_, "spec": spec}


duration = one_of("300s", "5m", "1h30m", "250ms")
timeouts = record(request=duration, streamIdle=duration)


def gated(*modes: str) -> Strategy:
    """`spec.gateway`. Who asks for `allow` needs a RenderConfig with `auth`: see `numbered`."""
    return record(
        mode=one_of(*modes),
        allow=st.lists(one_of("tenant-a", "tenant_b", "Team C", "0"), min_size=1, max_size=3, unique=True),
        timeouts=timeouts,
    )


@st.composite
def claims(draw: st.DrawFn, main: Node, more: Sequence[Node], loras: Sequence[Node] = (), *, single: bool) -> Node:
    """modelClaim or modelClaims, with or without flavors."""
    flavored = main["spec"].get("inferenceConfig", {}).get("flavors", ())
    chosen = (
        draw(st.lists(st.sampled_from(flavored), min_size=1, unique_by=lambda flavor: flavor["name"]))
        if flavored
        else []
    )
    flavor_claim = {"inferenceFlavors": [flavor["name"] for flavor in chosen]} if draw(st.booleans()) and chosen else {}
    if single and not more and not loras and draw(st.booleans()):
        return {"modelClaim": {"modelName": main["metadata"]["name"], **flavor_claim}}
    role = {"role": "main"} if draw(st.booleans()) or more else {}
    models = [
        {"name": main["metadata"]["name"], **role},
        *({"name": draft["metadata"]["name"], "role": "draft"} for draft in more),
        *({"name": lora["metadata"]["name"], "role": "lora"} for lora in loras),
    ]
    return {"modelClaims": {"models": models, **flavor_claim}}


@st.composite
def models(draw: st.DrawFn, engine: Engine) -> list[Node]:
    """The main model, and perhaps its draft."""
    form = draw(st.sampled_from(engine.formats))
    documents = [draw(model(engine, form))]
    if engine.drafts and draw(st.integers(0, 4)) == 0:
        documents.append(draw(model(engine, form, draft=True)))
    return documents


def accelerator_of(main_model: Node) -> str:
    """The vendor of the first flavor's accelerators, `none` without any; of NVIDIA where there is no flavor."""
    flavors_ = main_model["spec"].get("inferenceConfig", {}).get("flavors")
    if not flavors_:
        return "nvidia"
    for accelerator, names in RESOURCES.items():
        if flavors_[0]["name"] == CLAIMING[accelerator] or {*names} & {*flavors_[0].get("limits", ())}:
            return accelerator
    return "none"


role = record(
    replicas=st.integers(0, 5),
    args=one_of(["--log-level", "INFO"], []),
    envs=envs,
    resources=resources,
    sharedMemorySize=memory,
    podTemplate=pod_template,
    elasticConfig=elastic,
)
disaggregation = record({"prefill": role, "decode": role}, kind=one_of("LeaderWorkerSet", "DisaggregatedSet"))
kv_tier = st.one_of(record({"pvc": one_of("kv-cache")}), record({"emptyDir": one_of("200Gi", "500G")}))
kv_cache = record(
    {"cpu": one_of("64Gi", "100G", "68719476736", 137438953472)},
    evictionPolicy=one_of("lru"),
    secondary=some(st.builds(lambda tier, more: {**tier, **more}, kv_tier, record(path=one_of("/mnt/kv", "/kv_1"))), 1),
)


@st.composite
def adapters(draw: st.DrawFn, engine: Engine) -> list[Node]:
    """LoRA adapters, rarely any."""
    documents: list[Node] = []
    for folder in "kl"[: draw(st.integers(1, 2)) if engine.adapters and draw(st.integers(0, 2)) == 0 else 0]:
        spec = {"familyName": draw(label_value), "source": draw(source(engine, "safetensors", folder))}
        rank = st.builds(lambda value: {"adapter": {"rank": value}}, one_of(1, 16, 24, 512))
        spec |= draw(record(servedModelName=served_name, facts=rank))
        documents.append({"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {}, "spec": spec})
    return documents


service_of_clients = record(  # its name gets the number of the input
    {"name": one_of("api", "a-b")},
    port=st.integers(1, 65535),
    type=one_of("ClusterIP", "NodePort", "LoadBalancer"),
    labels=labels,
    annotations=notes,
)
engine_port = st.one_of(
    st.builds(lambda port: {"enginePort": port}, st.integers(1024, 7000)),
    st.builds(lambda service, port: {**service, "enginePort": port}, service_of_clients, st.integers(8100, 8900)),
)
CLAIMS = [
    {"metadata": {"name": "own-scratch", "labels": {"a": "b"}}, "spec": CLAIM},
    {"metadata": {"name": "own-cache"}, "spec": {**CLAIM, "storageClassName": "fast", "volumeMode": "Filesystem"}},
]
queue = one_of({}, {"queue": "gpus"}, {"queue": "gpus", "priorityClass": "high"})
topology = one_of("kubernetes.io/hostname", "rack")
bounds = one_of({"maxUnavailable": 2, "maxSurge": 0}, {"maxUnavailable": "50%", "maxSurge": 1}, {"maxSurge": "25%"})
set_settings = st.builds(
    lambda own, queued: {**own, **queued},
    record(
        labels=labels,
        annotations=notes,
        exclusiveTopology=topology,
        volumeClaimTemplates=one_of(CLAIMS, CLAIMS[:1]),
        rollout=st.builds(lambda most, more: {**most, **more}, bounds, record(partition=one_of(0, 1))),
    ),
    queue,
)
deployment_settings = st.builds(
    lambda own, queued: {"kind": "Deployment", **own, **queued},
    record(
        labels=labels,
        annotations=notes,
        rollout=bounds,
        selector=one_of({"app": "chat"}),  # `numbered` makes it lead to pods of its own
    ),
    queue,
)


@st.composite
def playground(draw: st.DrawFn) -> Input:
    """A Playground on a preset, or on a runtime of its own."""
    engine = draw(st.sampled_from([*ENGINES, *(preset for preset in ENGINES if preset.disaggregates), OWN]))
    model_documents = draw(models(engine))
    loras = draw(adapters(engine))
    config = draw(record(envs=envs, resources=resources, sharedMemorySize=memory))
    documents = [*model_documents, *loras]
    if engine is OWN:
        runtime = {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "BackendRuntime", "metadata": {}}
        documents.append({**runtime, "spec": draw(own_runtime)})
        config |= draw(record(args=some(text), version=one_of("v9")))
        if len(model_documents) == 1:
            config |= draw(record(configName=one_of("default", "tuned")))
    elif draw(st.booleans()) and engine.options:
        config["args"] = draw(arguments(engine))
    config["backendName"] = engine.name
    modes = ("backend", "pool", "pool") if engine.pooled else ("backend", "backend", "off")
    spec = draw(
        record(
            {"backendRuntimeConfig": st.just(config), "gateway": gated(*modes)},
            servedModelName=served_name,
            flavorPolicy=one_of("auto", "first", "inftyai"),
            hardening=one_of("default", "restricted", "openshift", "off"),
            podTemplate=pod_template,
            service=service_of_clients if engine is OWN else st.one_of(service_of_clients, engine_port),
            workload=st.one_of(set_settings, deployment_settings),
        )
    )
    if engine.takes_template and draw(st.integers(0, 3)) == 0:
        config_map = st.fixed_dictionaries({"name": one_of("chat-templates", "t.9"), "key": one_of("a.jinja", "A_b-1")})
        spec["chatTemplate"] = {"configMap": draw(config_map)}
    accelerator = accelerator_of(model_documents[0])
    if engine.offloads and accelerator != "none" and draw(st.integers(0, 3)) == 0:
        for size in ("resources", "sharedMemorySize"):
            config.pop(size, None)
        spec["kvCacheOffloading"] = draw(kv_cache)
    if engine.over_hosts and "args" not in config and draw(st.integers(0, 2)) == 0:
        spec.pop("kvCacheOffloading", None)
        if spec.get("workload", {}).get("kind") == "Deployment":
            spec.pop("workload")
        spec["parallelism"] = draw(
            parallelism if len(model_documents) == 1 or engine.drafts_with_sizes else tensor_over_hosts
        )
    if draw(st.integers(0, 4)) == 0:
        spec["podTemplate"] = draw(with_front(spec.get("podTemplate", {})))
        spec["gateway"] = {**spec["gateway"], "port": FRONT_PORT}
    spec |= draw(
        st.one_of(record(replicas=st.integers(0, 5)), st.builds(lambda value: {"elasticConfig": value}, elastic))
    )
    if accelerator in engine.disaggregates and draw(st.booleans()):
        config.pop("args", None)
        spec.get("service", {}).pop("enginePort", None)
        if not spec.get("service"):
            spec.pop("service", None)
        for key in ("kvCacheOffloading", "parallelism", "workload"):
            spec.pop(key, None)
        spec["disaggregation"] = draw(disaggregation)
        if engine.over_hosts and draw(st.integers(0, 2)) == 0:
            spec["parallelism"] = draw(tensor_over_hosts)
        spec["gateway"] = {**{key: value for key, value in spec["gateway"].items() if key != "port"}, "mode": "pool"}
    annotated: Node = {}
    skips = (
        engine.own_hub and not loras and all("modelHub" in document["spec"]["source"] for document in model_documents)
    )
    plain = all("filename" not in document["spec"]["source"].get("modelHub", ()) for document in model_documents)
    if skips and plain and draw(st.booleans()):
        annotated["annotations"] = {"llmaz.io/skip-model-loader": "true"}
    documents.append(
        {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Playground", "metadata": annotated, "spec": spec}
    )
    return named(draw, documents, lambda: draw(claims(model_documents[0], model_documents[1:], loras, single=True)))


@st.composite
def service(draw: st.DrawFn) -> Input:
    """A Service: pods of one's own, alone or in groups of a leader and workers."""
    model_documents = draw(models(OWN))
    size = draw(one_of(1, 1, 2, 4, 8))
    workload = {"size": size, "workerTemplate": draw(own_pod())}
    if size > 1:
        workload |= {"leaderTemplate": draw(own_pod())} if draw(st.booleans()) else {}
        workload |= draw(record(subGroupPolicy=st.just({"subGroupSize": 2, "subGroupPolicyType": "LeaderWorker"})))
    workload |= draw(
        record(
            restartPolicy=one_of("None", "RecreateGroupOnPodRestart"),
            volumeClaimTemplates=one_of(CLAIMS, CLAIMS[:1]),
            persistentVolumeClaimRetentionPolicy=record(whenDeleted=one_of("Delete"), whenScaled=one_of("Retain")),
        )
    )
    rollout = st.builds(
        lambda down, more: {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"maxUnavailable": down, "maxSurge": more or int(down == "50%")},
        },
        one_of(1, 2, "50%", "100%"),
        one_of(0, 1, "25%"),
    )
    spec = draw(
        record(
            {"workloadTemplate": st.just(workload)},
            replicas=st.integers(0, 4),
            servedModelName=served_name,
            flavorPolicy=one_of("auto", "first", "inftyai"),
            hardening=one_of("default", "restricted", "openshift", "off"),
            rolloutStrategy=rollout,
            gateway=gated("backend", "backend", "off"),
            service=service_of_clients,
            workload=st.builds(lambda own, queued: {**own, **queued}, record(labels=labels, annotations=notes), queue),
            startupPolicy=one_of("LeaderCreated", "LeaderReady"),
            networkConfig=record(subdomainPolicy=one_of("Shared", "UniquePerReplica")),
        )
    )
    if "gateway" in spec and draw(st.booleans()):
        pod = workload.get("leaderTemplate", workload["workerTemplate"])
        spec["gateway"] = {**spec["gateway"], "port": pod["spec"]["containers"][0]["ports"][0]["containerPort"]}
    document = {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Service", "metadata": {}, "spec": spec}
    return named(
        draw, [*model_documents, document], lambda: draw(claims(model_documents[0], model_documents[1:], single=False))
    )


@st.composite
def own_pod(draw: st.DrawFn) -> Node:
    """A pod template, written by hand."""
    runner = draw(
        record(
            {"image": one_of("registry.example/engine:1.2.3", "engine@" + DIGEST)},
            args=some(text),
            command=command,
            env=envs,
            resources=resources,
            securityContext=security,
            lifecycle=st.just({"postStart": {"exec": {"command": ["true"]}}}),
        )
    )
    runner |= {"name": "model-runner", "ports": [{"name": "http", "containerPort": draw(one_of(8080, 8000, 65535))}]}
    runner |= draw(record(readinessProbe=probe, livenessProbe=probe, startupProbe=probe))
    fields = draw(record(**pod_fields))
    others = draw(st.lists(sidecar, max_size=2, unique_by=lambda container: container["name"]))
    if draw(st.booleans()) and others:
        fields["initContainers"] = [others.pop()]
    if draw(st.booleans()):
        fields["volumes"] = [{"name": "own", **draw(volume_source)}]
        runner["volumeMounts"] = [
            draw(record({"name": st.just("own"), "mountPath": one_of("/own")}, readOnly=st.booleans()))
        ]
    metadata = draw(record(metadata=filled(record(labels=labels, annotations=labels))))
    return {**metadata, "spec": {**fields, "containers": [runner, *others]}}


def named(draw: st.DrawFn, documents: list[Node], claimed: Callable[[], Node]) -> Input:
    """Puts names in; `numbered` makes them differ from those of other inputs."""
    for document in documents[:-1]:
        document["metadata"] = {**document["metadata"], "name": draw(label)}
    app = documents[-1]
    # LeaderWorkerSet and its Services add to the name: 52 characters and the highest index are all there is room for
    app["metadata"] |= {"name": draw(st.from_regex(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True))}
    app["metadata"] |= draw(record(namespace=st.sampled_from(NAMESPACES), labels=labels))
    app["spec"] |= claimed()
    return Input(documents)


def numbered(drawn_input: Input, number: int, config: Node) -> list[Node]:
    """Its documents, under names that no other input has, and that belong together. `config`: the spec of RenderConfig:
    without authentication nobody can be allowed anything, KEDA scales by what it can ask for, some from zero, and not
    every picker knows prefill and decode.
    """
    authenticated = "auth" in config.get("gateway", {})
    keda = config["autoscaling"].get("autoscaler") == "keda"
    renamed = [
        f"{document['metadata']['name']}-{'abcdef'[index]}{number}"
        for index, document in enumerate(drawn_input.documents)
    ]
    documents = [
        {**document, "metadata": {**document["metadata"], "name": name}}
        for document, name in zip(drawn_input.documents, renamed, strict=True)
    ]
    for index, document in enumerate(documents):
        if "servedModelName" in document["spec"]:  # one public name a route
            public = f"{document['spec']['servedModelName']}-{number}{'abcdef'[index]}"
            document["spec"] = {**document["spec"], "servedModelName": public}
    spec = dict(documents[-1]["spec"])
    if "gateway" in spec and not authenticated:
        spec["gateway"] = {key: value for key, value in spec["gateway"].items() if key != "allow"}
    if keda and "elasticConfig" in spec:
        spec["elasticConfig"] = for_keda(spec["elasticConfig"])
        if number % 3 == 0 and spec.get("gateway", {}).get("mode") in ("backend", "pool"):
            spec["elasticConfig"] |= {"minReplicas": 0}
    if "disaggregation" in spec:
        spec["disaggregation"] = for_picker(spec["disaggregation"], config.get("gateway", {}), keda=keda)
        if not spec["disaggregation"]:
            del spec["disaggregation"]
        else:
            documents[-1]["metadata"]["name"] = f"roles-{number}"  # the names of both roles are longer
            if "kind" in spec["disaggregation"]:
                spec.pop("elasticConfig", None)
    if "selector" in spec.get("workload", ()):
        own = {"app": documents[-1]["metadata"]["name"]}
        spec["workload"] = {**spec["workload"], "selector": own}
        template = spec.get("podTemplate", {})
        metadata = template.get("metadata", {})
        metadata = {**metadata, "labels": {**metadata.get("labels", {}), **own}}
        spec["podTemplate"] = {**template, "metadata": metadata}
    if "name" in spec.get("service", ()):
        spec["service"] = {**spec["service"], "name": f"{spec['service']['name']}-{number}"}
    if "modelClaim" in spec:
        spec["modelClaim"] = {**spec["modelClaim"], "modelName": renamed[0]}
    else:
        claimed = [{**claim, "name": renamed[index]} for index, claim in enumerate(spec["modelClaims"]["models"])]
        spec["modelClaims"] = {**spec["modelClaims"], "models": claimed}
    if "backendRuntimeConfig" in spec and not spec["backendRuntimeConfig"]["backendName"]:
        spec["backendRuntimeConfig"] = {**spec["backendRuntimeConfig"], "backendName": renamed[-2]}
    documents[-1] = {**documents[-1], "spec": spec}
    return documents


def for_keda(elastic_config: Node) -> Node:
    """The same bounds, and of the metrics those that KEDA has triggers for."""
    trigger_ = elastic_config["scaleTrigger"]["hpa"]
    metrics = [entry for entry in trigger_["metrics"] if entry["type"] in ("Resource", "ContainerResource")]
    metrics = metrics or [{"type": "Resource", "resource": {"name": "cpu", "target": AVERAGE}}]
    return {**elastic_config, "scaleTrigger": {"hpa": {**trigger_, "metrics": metrics}}}


def for_picker(roles: Node, gateway_: Node, *, keda: bool) -> Node:
    """Both roles as LeaderWorkerSet 0.9 and the autoscaler take them; {} where the picker knows none."""
    pickers = [section.get("picker") for section in (gateway_, *gateway_.get("perNamespace", {}).values())]
    if "gaie-1.5" in pickers:
        return {}
    changed: Node = {}
    for name, role_spec in roles.items():
        changed[name] = role_spec
        if name == "kind":
            continue
        if roles.get("kind") == "DisaggregatedSet":
            changed[name] = {key: value for key, value in role_spec.items() if key != "elasticConfig"}
        elif keda and "elasticConfig" in role_spec:
            changed[name] = {**role_spec, "elasticConfig": for_keda(role_spec["elasticConfig"])}
    return changed


inputs = st.one_of(playground(), playground(), playground(), service())


# ---- RenderConfig ----

loader = {
    "image": one_of("mirror.example/loader", "loader"),
    "version": one_of("v1", "1.2.3"),
    "resources": resources,
    "env": envs,
}
jwt = {
    "name": "company",
    "remoteJWKS": {"uri": "https://id.example.com/keys"},
    "claimToHeaders": [{"claim": "tenant", "header": "x-tenant-id"}],
}
gateway = {
    "mode": one_of("backend", "backend", "backend", "off"),
    "picker": one_of("llm-d", "llm-d-0.10", "gaie-1.5"),
    "name": label,
    "namespace": one_of("llmaz-system", "edge"),
    "create": one_of(True, True, False),
    "className": label,
    "serviceType": one_of("ClusterIP", "LoadBalancer", "NodePort"),
    "replicas": st.integers(1, 5),
    "hostnames": st.lists(one_of("llm.example.com", "*.example.org", "localhost"), min_size=1, max_size=3, unique=True),
    "tls": one_of({"secretName": "certificate"}, {"issuer": "letsencrypt"}),
    "auth": one_of(
        {"apiKeys": {"secretName": "tenants"}},
        {"apiKeys": {"secretName": "tenants", "headers": ["x-api-key", "api-key"]}, "tenantHeader": "x-tenant"},
        {"jwt": [jwt]},
    ),
    "timeouts": timeouts,
    "clusterDomain": one_of("cluster.example"),
    "dnsTTL": st.integers(1, 60),
    "routeLayout": one_of("model", "packed"),
    "routeBuckets": st.integers(1, 20),
}
other_gateway = st.builds(lambda value: {**value, "name": "other", "namespace": "team-a"}, record(**gateway))
GATEWAY: dict[str, Strategy] = {"gateway": record(**gateway, perNamespace=record(**{"team-a": other_gateway}))}


def claiming(accelerator: str) -> Strategy:
    """A flavor of the catalog that claims such devices."""
    selectors = [f"device.driver == 'gpu.{accelerator}.com'"], ["true", "'index' in device.attributes['a.example.com']"]
    requested = record(
        {"deviceClassName": one_of(f"gpu.{accelerator}.com")}, count=one_of(1, 2, 8), selectors=one_of(*selectors)
    )
    networks = record(**{"k8s.v1.cni.cncf.io/networks": one_of("ib-1", "ib-1,ib-2")})
    access = {"capabilities": one_of(["IPC_LOCK"], ["IPC_LOCK", "SYS_ADMIN"]), "env": envs, "annotations": networks}
    more = {"nodeSelector": labels, "tolerations": some(toleration), "hostNetwork": st.booleans()}
    return record({"claims": requested}, **more, **access)


spec_of_config = record(
    {
        "flavors": st.fixed_dictionaries({name: claiming(accelerator) for accelerator, name in CLAIMING.items()}),
        "targets": record(
            {"kubernetes": st.just("1.35"), "leaderWorkerSet": st.just("0.9")}, aiGateway=one_of("1.0", "1.1")
        ),
        "autoscaling": st.one_of(
            record(
                {
                    "metricSource": record(
                        {"type": st.just("prometheusAdapter")},
                        podMonitor=record(labels=labels, interval=one_of("5s", "1m")),
                    )
                }
            ),
            st.just({"metricSource": {"type": "none"}}),
            st.builds(
                lambda prometheus, cooldown: {
                    "autoscaler": "keda",
                    "metricSource": {"type": "prometheus"},
                    "keda": {
                        **cooldown,
                        "prometheus": {"serverAddress": "https://prometheus:9090", **prometheus},
                        "interceptor": {"service": "interceptor", "namespace": "keda"},
                    },
                },
                one_of({}, {"authModes": ["bearer", "tls"], "authenticationRef": {"name": "prometheus"}}),
                one_of({}, {"cooldown": 0}, {"cooldown": 86400}),
            ),
        ),
    },
    namespace=st.sampled_from(NAMESPACES),
    schedulerName=label,
    flavorPolicy=one_of("auto", "first", "inftyai"),
    hardening=one_of("default", "restricted", "openshift", "off"),
    images=record(
        mirrors=st.just({"docker.io": "mirror.example/hub", "registry.example": "mirror.example:5000"}),
        digests=st.just({"registry.example/proxy:v2": DIGEST}),
    ),
    loaders=record(
        hub=record(**loader),
        store=record(
            **loader, endpoint=one_of("https://s3.example.com"), region=one_of("eu-1"), anonymous=st.booleans()
        ),
        oci=record(path=one_of("weights", "a/b")),
    ),
    secrets=record(
        hub=st.one_of(label, record({"name": label}, key=one_of("token", "a.b"), optional=st.booleans())),
        oss=label,
        aws=label,
        gcs=record({"name": label}, **{"as": one_of("keyFile", "hmac")}),
    ),
    modelCache=model_cache,
    pods=record(
        tolerations=some(toleration),
        imagePullSecrets=some(st.builds(lambda name: {"name": name}, label), by=lambda secret: secret["name"]),
        serviceAccountName=label,
        priorityClassName=label,
        topologySpreadConstraints=some(spread, 1),
        labels=labels,
        annotations=notes,
        env=envs,
        networkPolicy=st.one_of(st.booleans(), record({"from": some(network_peer)})),
        listenAddress=one_of("0.0.0.0", "::"),  # noqa: S104 - a choice of the input
        caBundle=st.one_of(record({"configMap": label}, key=one_of("ca.pem")), record({"secret": label})),
    ),
    output=record(layout=one_of("file", "app", "object")),
    **GATEWAY,
)


def as_config(spec: Node) -> Node:
    """A RenderConfig. Hardened pods may have no capabilities, and no network of their node."""
    if spec.get("hardening") in ("restricted", "openshift"):
        flavors = {
            name: {key: value for key, value in flavor.items() if key not in ("capabilities", "hostNetwork")}
            for name, flavor in spec["flavors"].items()
        }
        spec = {**spec, "flavors": flavors}
    head = {"apiVersion": "renderer.llmaz.io/v1alpha1", "kind": "RenderConfig", "metadata": {"name": "config"}}
    return {**head, "spec": spec}


configs = spec_of_config.map(as_config)
