"""What webhooks of others say of manifests: their own code, as the programs of tests/go have it."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from renderer import yamlio
from tests.apiserver.manifests import Manifest, Refusal, manifests
from tests.apiserver.server import Body, CannotJudge

TESTDATA = Path(__file__).resolve().parents[1] / "go" / "testdata"
EXAMPLES = ("kedacheck", "kueuecheck")  # folders of it
LWS = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
DISAGGREGATED_SET = ("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet")
SCALED_OBJECT = ("keda.sh/v1alpha1", "ScaledObject")
QUEUED = (LWS, ("apps/v1", "Deployment"), ("batch/v1", "Job"))
QUEUE = "kueue.x-k8s.io/queue-name"


class Webhook(NamedTuple):
    """`program` prints a finding for each object that it is asked about: those, and no others, are `relevant`."""

    program: str
    who: str
    relevant: Callable[[Body], bool]

    @property
    def changing(self) -> str:
        """Who says that an object would stand otherwise in a cluster than it is written."""
        return f"{self.who}, which would change it"


def is_set(body: Body) -> bool:
    """Whether the webhook of LeaderWorkerSet or of DisaggregatedSet is asked about the object."""
    return kind_of(body) in (LWS, DISAGGREGATED_SET)


def is_scaled_object(body: Body) -> bool:
    """Whether KEDA's is."""
    return kind_of(body) == SCALED_OBJECT


def is_queued(body: Body) -> bool:
    """Whether Kueue's are: it leaves workloads without a queue alone."""
    metadata = body.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    if kind_of(body) not in QUEUED or not isinstance(labels, Mapping):
        return False
    return QUEUE in labels and all(isinstance(value, str) for value in labels.values())


def kind_of(body: Body) -> tuple[object, object]:
    """Version and kind of an object."""
    return body.get("apiVersion"), body.get("kind")


OF_LWS = Webhook("lwscheck", "LeaderWorkerSet webhook", is_set)
WEBHOOKS = (
    OF_LWS,
    Webhook("kedacheck", "KEDA webhook", is_scaled_object),
    Webhook("kueuecheck", "Kueue webhook", is_queued),
)


def refusals(tools: Path, webhook: Webhook, subjects: Sequence[Manifest]) -> Iterator[Refusal]:
    """What a webhook refuses or would change. The objects of one folder's files are a cluster: it may look at one when
    it judges another. Raises CannotJudge when it did not judge them all.
    """
    clusters: dict[PurePath, list[int]] = defaultdict(list)
    for index, manifest in enumerate(subjects):
        clusters[PurePath(manifest.where).parent].append(index)
    relevant = {index for index, subject in enumerate(subjects) if webhook.relevant(subject.body)}
    if not relevant:
        return
    with tempfile.TemporaryDirectory() as folder:
        for number, indexes in enumerate(clusters.values()):
            if relevant.isdisjoint(indexes):
                continue
            cluster = Path(folder, str(number))
            cluster.mkdir()
            for index in indexes:
                text = subjects[index].text or yamlio.dump(subjects[index].body)
                (cluster / f"{index}.yaml").write_text(text, "utf-8")
        run = subprocess.run([tools / webhook.program, folder], capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        raise CannotJudge(run.stderr.strip())
    messages: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for finding in map(json.loads, run.stdout.splitlines()):
        index = int(Path(finding["file"]).stem)
        messages[index] += [(webhook.who, text) for text in finding["errors"]]
        messages[index] += [(webhook.changing, text) for text in finding["changed"]]
    if unseen := relevant - messages.keys():
        raise CannotJudge(f"{webhook.program} did not see {len(unseen)} of {len(relevant)} objects")
    for index in sorted(messages):
        for who, message in messages[index]:
            yield Refusal(subjects[index], who, message)


def misjudged(tools: Path, webhook: Webhook) -> Iterator[str]:
    """Where a program does not say of an example what its second line states: words of a refusal, or nothing at all."""
    for path in sorted((TESTDATA / webhook.program).glob("*.yaml")):
        text = path.read_text("utf-8")
        expected = text.splitlines()[1].removeprefix("#").strip()
        messages = "\n".join(refusal.message for refusal in refusals(tools, webhook, list(manifests(str(path), text))))
        if expected not in messages if expected else messages:
            yield f"{path.name}: {webhook.program} should say {expected or 'nothing'!r}, not {messages!r}"
