"""Spoilt manifests: whether `llmaz check` and the API server think alike of them, object by object.

Each is a golden's object with one or two things changed, the same ones every time. Where the two differ, a rule of
differences.yaml says why, or it is a fault of ours.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import yaml

from renderer import check, schema_validation
from renderer.check.removed_apis import removal_words, removed_versions
from renderer.diagnostics import NamedSource, Origin, dotted, make_diagnostic
from tests.apiserver.judge import Judge
from tests.apiserver.manifests import Manifest, manifests
from tests.apiserver.server import Body
from tests.apiserver.webhooks import OF_LWS

Path_: TypeAlias = tuple[str | int, ...]
Chance: TypeAlias = random.Random

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DIFFERENCES = HERE / "differences.yaml"
# Of these all kinds are spoilt, each as often as the others. Fixed, so that a new golden does not change what is asked.
CASES = (
    "tests/cases/autoscaling-fed", "tests/cases/elastic", "tests/cases/engine-parts", "tests/cases/engine-vllm",
    "tests/cases/flavors", "tests/cases/flavors-inftyai", "tests/cases/hardening-restricted",
    "tests/cases/pod-template", "tests/cases/pods-config", "tests/cases/service-leader-worker", "tests/cases/source-s3",
    "tests/cases/example-gateway-*", "tests/cases/routes*",
    "tests/data/nodepools/fleet", "tests/data/nodepools/every-setting",
)  # fmt: skip
BASES = HERE / "bases.yaml"
HEAVY = {"LeaderWorkerSet": 3}  # so much more often, for all that it holds


class Spoilt(NamedTuple):
    """What was done to an object, in words, and what came of it."""

    manifest: Manifest
    what: str


class Verdict(NamedTuple):
    """What we, and what the server, have against a spoilt object; nothing where it is fine."""

    spoilt: Spoilt
    ours: Sequence[str]
    server: Sequence[str]

    @property
    def alike(self) -> bool:
        return bool(self.ours) == bool(self.server)

    def __str__(self) -> str:
        words = f"we: {'; '.join(self.ours) or 'fine'} | server: {'; '.join(self.server) or 'fine'}"
        return f"{self.spoilt.manifest.label}: {self.spoilt.what}: {words}"


class Difference(NamedTuple):
    """A rule of differences.yaml: `ours` or `server` is a pattern of what that side alone has against an object."""

    reason: str
    ours: str = ""
    server: str = ""
    kinds: Sequence[str] = ()

    def explains(self, verdict: Verdict) -> bool:
        """All that the one side says, while the other says nothing."""
        if self.kinds and verdict.spoilt.manifest.body.get("kind") not in self.kinds:
            return False
        for pattern, messages, other in (
            (self.ours, verdict.ours, verdict.server),
            (self.server, verdict.server, verdict.ours),
        ):
            if pattern and messages and not other and all(re.search(pattern, message) for message in messages):
                return True
        return False


def differences() -> list[Difference]:
    """All rules. A key that is none of theirs is a TypeError."""
    return [Difference(**rule) for rule in yaml.safe_load(DIFFERENCES.read_text("utf-8"))]


def verdicts(judge: Judge, count: int) -> list[Verdict]:
    """Both sides' word on so many spoilt objects."""
    samples = spoilt(count)
    against: dict[int, list[str]] = defaultdict(list)
    for refusal in judge.refusals([sample.manifest for sample in samples], [OF_LWS]):
        if refusal.who != OF_LWS.changing:  # what drifts is none of the server's business
            against[id(refusal.manifest)].append(f"{refusal.who}: {' '.join(refusal.message.split())}")
    return [Verdict(sample, ours(sample.manifest.body), against[id(sample.manifest)]) for sample in samples]


def ours(body: Body) -> list[str]:
    """Why `llmaz check` would refuse one object: `code field: message`. A warning refuses nothing."""
    version, kind = body.get("apiVersion"), body.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str):
        return ["E501"]
    group, _, number = version.rpartition("/")
    if not schema_validation.has_schema(f"output/{group or 'core'}/{kind.lower()}_{number}"):
        if removal := removal_words(version, kind, None):
            return [f"E502 apiVersion: removed in {removal['removed']}"]
        return [f"no schema of {version} {kind}"]  # an error under --strict
    nowhere = Origin(NamedSource("manifest"))
    diagnostics = [
        (finding.path, make_diagnostic(finding.code, nowhere, **finding.words))
        for finding in check.validate_object(check.without_nulls(body))
    ]
    return [
        f"{diagnostic.code} {dotted(path)}: {diagnostic.message}"
        for path, diagnostic in diagnostics
        if diagnostic.forbids()
    ]


# ---- spoiling ----


def spoilt(count: int) -> list[Spoilt]:
    """So many different ones."""
    by_kind: dict[str, list[Manifest]] = defaultdict(list)
    for case in CASES:
        for path in sorted([*ROOT.glob(f"{case}/expected/**/*.yaml"), *ROOT.glob(f"{case}/expected.yaml")]):
            if path.name != "kustomization.yaml":
                for manifest in manifests(str(path.relative_to(ROOT)), path.read_text("utf-8")):
                    by_kind[manifest.body["kind"]].append(manifest)
    for manifest in manifests(BASES.name, BASES.read_text("utf-8")):
        by_kind[manifest.body["kind"]].append(manifest)
    turns = [kind for kind in sorted(by_kind) for _ in range(HEAVY.get(kind, 1))]
    seen: set[str] = set()
    samples: list[Spoilt] = []
    number = 0
    while len(samples) < count:
        kind, number = turns[number % len(turns)], number + 1
        chance = random.Random(f"{kind} {number}")
        base = chance.choice(by_kind[kind])
        body = copy.deepcopy(base.body)
        what = "; ".join(filter(None, (spoil(body, chance) for _ in range(chance.choice((1, 1, 1, 2))))))
        text = json.dumps(body, sort_keys=True)
        if what and body != base.body and text not in seen:
            seen.add(text)
            samples.append(Spoilt(Manifest(base.where, body), what))
    return samples


def spoil(body: Body, chance: Chance) -> str:
    """Changes one thing; says what, or nothing when it found nothing to change."""
    applies, how = chance.choice(WAYS)
    places = [path for path in walk(body) if path and path[0] != "status" and applies(path, at(body, path))]
    if not places:
        return ""
    path = chance.choice(places)
    parent = at(body, path[:-1])
    before = json.dumps(parent[path[-1]], sort_keys=True)
    how(parent, path[-1], chance)
    after = parent[path[-1]] if isinstance(parent, dict) and path[-1] in parent else None
    name = how.__name__.replace("_", " ")
    return f"{name} {dotted(path)} ({before[:60]}{'' if after is None else ' → ' + json.dumps(after)[:60]})"


def walk(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The path of every value, a parent's first."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from walk(item, (*path, key))


def at(value: Any, path: Path_) -> Any:
    for key in path:
        value = value[key]
    return value


LONG = "a" * 64
# fmt: off
NAMES = (
    "Upper", "under_score", "dot.ted", "-a", "a-", "", "a b", LONG, "a" * 254, "9", "9a", "é", "a/b", "a..b", "A",
    "a:b",
)
QUANTITIES: tuple[Any, ...] = (
    "", "1.5Gb", "1 Gi", "-1", "-1Gi", "1e", "1e3", "1E3", ".5", "5.", "+1", "0x1", "1Ki5", "1kk", "k", "12e-3", "0", 0,
    -1, 1.5, "9" * 30, "1m", "100u", "1n", "0.5n", True, "1Gi ", "1,5", "1_000", "1e400", [],
)
NUMBERS = (
    -1, 0, 1, 2, 100, 101, 3600, 3601, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 1.5, 1.0, "1", None,
    True,
)
TEXTS: tuple[Any, ...] = (
    "", " ", "a", "A", "a\nb", "1", "x" * 1025, "é", "/", "../a", "a,b", "$(A)", "http", "TCP", "Always", None, 1, True,
    [], {},
)
KEYS = (
    "a/b/c", "-a", "a b", "", "A/b", "é", LONG, "a.b/" + "c" * 63, "/a", "a/", "kubernetes.io/x", "x_y.z", "9",
)
# fmt: on
OF_AMOUNTS = ("limits", "requests")


def delete(parent: Any, key: Any, chance: Chance) -> None:
    del parent[key]


def rename(parent: Any, key: Any, chance: Chance) -> None:
    other = chance.choice([key + "s", key[:-1], key.upper(), key.capitalize(), key[1:] + key[0], "x-" + key])
    parent[other] = parent.pop(key)


def retype(parent: Any, key: Any, chance: Chance) -> None:
    value = parent[key]
    parent[key] = chance.choice([None, [value], {"a": value}, str(value), 1, 1.5, True, "x", [], {}])


def count_otherwise(parent: Any, key: Any, chance: Chance) -> None:
    parent[key] = chance.choice(NUMBERS)


def say_otherwise(parent: Any, key: Any, chance: Chance) -> None:
    value = str(parent[key])
    parent[key] = chance.choice([*TEXTS, value.lower(), value.upper(), value + "x", f" {value}", value.capitalize()])


def name_otherwise(parent: Any, key: Any, chance: Chance) -> None:
    parent[key] = chance.choice(NAMES)


def measure_otherwise(parent: Any, key: Any, chance: Chance) -> None:
    parent[key] = chance.choice(QUANTITIES)


def repeat(parent: Any, key: Any, chance: Chance) -> None:
    parent.append(copy.deepcopy(parent[key]))


def add_a_field(parent: Any, key: Any, chance: Chance) -> None:
    parent[key][chance.choice(["extra", "name", "enabled", "value", "spec", "namespace"])] = chance.choice(
        ["x", 1, True, None, {}, []]
    )


def key_otherwise(parent: Any, key: Any, chance: Chance) -> None:
    parent[key][chance.choice(KEYS)] = chance.choice(["x", "", "-a", "a b", LONG, "é", 1, True, None])


def swap(parent: Any, key: Any, chance: Chance) -> None:
    other = chance.choice(list(parent))
    parent[key], parent[other] = parent[other], parent[key]


def empty(parent: Any, key: Any, chance: Chance) -> None:
    parent[key] = None


def break_lines(parent: Any, key: Any, chance: Chance) -> None:
    value = str(parent[key])
    cut = chance.randrange(len(value) + 1)
    parent[key] = value[:cut] + chance.choice(["\n", "\r\n", "\n\n", " ", "\t", "\n=", "\u2028"]) + value[cut:]


def take_a_removed_version(parent: Any, key: Any, chance: Chance) -> None:
    parent[key] = chance.choice([*removed_versions(str(parent.get("kind"))), "extensions/v1beta1", "apps/v1beta2"])


def is_base64(path: Path_, value: Any) -> bool:
    return isinstance(value, str) and len(path) == 2 and path[0] in ("data", "binaryData")


def is_key(path: Path_, value: Any) -> bool:
    return isinstance(path[-1], str) and len(path[-1]) > 1 and path[0] not in ("apiVersion", "kind")


def is_text(path: Path_, value: Any) -> bool:
    return isinstance(value, str) and path[0] not in ("apiVersion", "kind")


def is_free(path: Path_, value: Any) -> bool:
    """A map whose keys are the user's own."""
    return isinstance(value, dict) and path[-1] in (
        "labels",
        "annotations",
        "matchLabels",
        "nodeSelector",
        "selector",
        "data",
    )


WAYS: tuple[tuple[Callable[[Path_, Any], bool], Callable[[Any, Any, Chance], None]], ...] = (
    (is_key, delete),
    (is_key, rename),
    (lambda path, value: path[0] not in ("apiVersion", "kind"), retype),
    (lambda path, value: isinstance(value, int) and not isinstance(value, bool), count_otherwise),
    (lambda path, value: isinstance(value, int) and not isinstance(value, bool), count_otherwise),
    (is_text, say_otherwise),
    (is_text, say_otherwise),
    (lambda path, value: isinstance(value, str) and str(path[-1]).lower().endswith("name"), name_otherwise),
    (
        lambda path, value: (len(path) > 1 and path[-2] in OF_AMOUNTS) or path[-1] in ("sizeLimit", "averageValue"),
        measure_otherwise,
    ),
    (lambda path, value: isinstance(path[-1], int), repeat),
    (lambda path, value: isinstance(value, dict), add_a_field),
    (is_free, key_otherwise),
    (lambda path, value: isinstance(path[-1], str) and len(path) > 1, swap),
    (lambda path, value: path in (("apiVersion",), ("kind",)), say_otherwise),
    (lambda path, value: path[0] not in ("apiVersion", "kind"), empty),
    (lambda path, value: path[0] not in ("apiVersion", "kind"), empty),
    (is_base64, break_lines),
    (is_base64, break_lines),
    (lambda path, value: path == ("apiVersion",), take_a_removed_version),
)
