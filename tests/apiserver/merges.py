"""Whether pods are merged as the API server merges them: made-up pods that it stored, each with a patch of it.

What the server refuses, as two sources of a volume or two handlers of a probe, counts for nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from renderer.admission.server_view import server_value
from renderer.diagnostics import Collector, NamedSource, Origin
from renderer.kubernetes.strategic_merge import SERVER, Merge
from renderer.kubernetes.template_origins import TemplateOrigins
from tests.apiserver.server import LANES, Body, CannotJudge, Client
from tests.kubernetes.pod_patches import pod_patches
from tests.paths import TESTS

COUNT: Final = 2000
ACCEPTED: Final = 0.6  # of the patches, else the generator makes the wrong ones
RECORDED: Final = 20
RECORD: Final = TESTS / "kubernetes" / "server_merges.json"  # pairs with what the server made of them
SPACE: Final = "/api/v1/namespaces/default/podtemplates"
PATCH: Final = "application/strategic-merge-patch+json"


class Patched(NamedTuple):
    """A spec of a pod as the server stored it, a patch, and what it became."""

    pod: Body
    patch: Body
    merged: Body


def about_merges(
    client: Client, count: int | None, say: Callable[[str], None], *, record: bool
) -> tuple[int, int, int]:
    """The pairs that were compared, 0, and the differences, each of which is said. `record`: writes pairs for tests."""
    start, pairs = time.monotonic(), [*pod_patches(count or COUNT)]
    with ThreadPoolExecutor(LANES) as lanes:
        answers = lanes.map(lambda item: _patched(client, item[0], *item[1]), enumerate(pairs))
        accepted = [answer for answer in answers if answer]
    if len(accepted) < len(pairs) * ACCEPTED:
        raise CannotJudge(f"only {len(accepted)} of {len(pairs)} made-up patches are taken by the server")
    differences = [*_differences(accepted)]
    for difference in differences:
        say(f"  {difference}")
    if record:
        _record(accepted)
    say(
        f"merges: {len(pairs)} made-up patches of pods, {len(accepted)} taken by the server,"
        f" merged in another way: {len(differences)} ({time.monotonic() - start:.0f} s)"
    )
    return len(accepted), 0, len(differences)


def _patched(client: Client, number: int, pod: Body, patch: Body) -> Patched | None:
    """What the server makes of the patch in a dry run; None where it refuses the pod or the patch."""
    name = f"merge-{number}"
    body = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": name}, "template": {"spec": pod}}
    stored = client("POST", SPACE, json.dumps(body))
    if stored.message:
        return None
    text = json.dumps({"template": {"spec": patch}})
    answer = client("PATCH", f"{SPACE}/{name}", text, PATCH, dryRun="All", fieldValidation="Strict")
    client("DELETE", f"{SPACE}/{name}")
    if answer.message:
        return None
    return Patched(stored.body["template"]["spec"], patch, answer.body["template"]["spec"])


def _differences(pairs: list[Patched]) -> Iterator[str]:
    for pod, patch, servers in pairs:
        ours = server_value("core.PodSpec", merged(pod, patch))
        if ours != servers:
            fields = [key for key in {**ours, **servers} if ours.get(key) != servers.get(key)]
            shown = {key: (ours.get(key), servers.get(key)) for key in fields}
            yield f"ours and the server's: {json.dumps(shown)}; of {json.dumps(pod)} by {json.dumps(patch)}"


def merged(pod: Body, patch: Body) -> dict[str, Any]:
    """The patched spec of a pod."""
    merge = Merge(SERVER, TemplateOrigins(), Collector())
    return merge.merge_map(pod, patch, "core.PodSpec", Origin(NamedSource("patch")), ())


def _record(pairs: list[Patched]) -> None:
    """Writes the shortest of the pairs."""
    lines = sorted((json.dumps(pair._asdict()) for pair in pairs), key=len)[:RECORDED]
    RECORD.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
