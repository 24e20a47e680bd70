"""Sound output with one fault each: what `llmaz check`, the controllers and requests say of it.

An example is applied as it is, and all that is asked must be served. Then each of its variants: the objects that it
changes are applied over the sound ones, requests are sent until one is not served as it should be, and the sound
objects come back, until all is served again. `llmaz check` agrees with requests when it warns where they fail and is
silent where they do not; a variant where it does not agree says why.
"""

from __future__ import annotations

import copy
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.apiserver.server import Body
from tests.engines.trial import Result
from tests.gateway.cases import CASES, NAMES, question
from tests.gateway.conditions import complaints
from tests.gateway.expectations import Expectation
from tests.gateway.faulty_variants import VARIANTS, Bodies, Variant
from tests.gateway.trial import PAUSE, Site

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 20.0  # seconds until a fault shows
LASTING = 5.0  # seconds that it has to stay, since what is changed is not there at once
HEALING = 75.0  # seconds until all is served again: two lives of a DNS answer and some
CODE = re.compile(r"\[([EW]\d{3})\]")
COLUMNS = ("variant", "llmaz check", "controllers", "requests", "agree")


class Row(NamedTuple):
    """What was seen of a variant. Each is '' where nothing is said against it."""

    name: str
    check: str
    controllers: str
    requests: str
    differs: str

    @property
    def agree(self) -> bool:
        return bool(self.check) == bool(self.requests)


class Finding(NamedTuple):
    """A question about a variant or an example. `row`: for the table, where a variant was compared."""

    name: str
    result: Result
    row: Row | None = None


def compare_variants(
    names: Sequence[str], site: Site, channel: str, render: Callable[[str], Bodies]
) -> Iterator[Finding]:
    """What comes of the variants of these names, each example's sound output first. `render`: an example's output."""
    chosen = {name: VARIANTS[name] for name in names if channel in VARIANTS[name].channels}
    for example in dict.fromkeys(variant.example for variant in chosen.values()):
        own = {name: variant for name, variant in chosen.items() if variant.example == example}
        sound = render(example)
        site.clear()
        beside = CASES[example].beside(site)
        refused = site.apply([*beside, *sound])
        wrong = [*refused, *site.settle()]
        yield Finding(example, question("as it is: all conditions are good", not wrong, wrong[:3]))
        codes = checked(whole(sound, beside))
        yield Finding(example, question("as it is: llmaz check says nothing against it", not codes, codes))
        for expectation in dict.fromkeys(variant.expectation for variant in own.values()):
            fault = healed(site, example, expectation)
            yield Finding(example, question(f"as it is: {shown(expectation)}", not fault, fault))
        for name, variant in own.items():
            row = compared(name, variant, sound, beside, site)
            yield Finding(name, verdict(row), row)
            fault = healed(site, example, variant.expectation)
            yield Finding(name, question("without the fault all is served again", not fault, fault))


def lasting(expectation: Callable[[], str]) -> str:
    """The fault that is there for LASTING seconds on end, '' where none is within PATIENCE."""
    begun, since = time.monotonic(), None
    while True:
        fault, now = expectation(), time.monotonic()
        since = (since or now) if fault else None
        if since is not None and now - since >= LASTING:
            return fault
        if since is None and now - begun > PATIENCE:
            return ""
        time.sleep(PAUSE)


def healed(site: Site, example: str, expectation: Expectation) -> str:
    """'' as soon as the expectation has nothing to say, else what it says in the end."""
    return site.until_not(lambda: expectation(site, example, NAMES[example]), HEALING)


def compared(name: str, variant: Variant, sound: Bodies, beside: Sequence[Body], site: Site) -> Row:
    """Brings the fault, sees what is said and served, and takes the fault away."""
    bodies = copy.deepcopy(sound)
    variant.change(bodies)
    names = {variant.renames.get(name, name): public for name, public in NAMES[variant.example].items()}
    changed = [body for body in bodies if body not in sound]
    gone = [body for body in sound if identity(body) not in {identity(other) for other in bodies}]
    added = [body for body in changed if identity(body) not in {identity(other) for other in sound}]
    codes = checked(whole(bodies, beside), variant.policy)
    refused = [message for body in changed if (message := site.stack.cluster.applied(body).message)]
    for body in gone:
        site.delete(body)
    try:
        fault = "" if refused else lasting(lambda: variant.expectation(site, variant.example, names))
        complaint_text = "; ".join([*(f"refused: {message}" for message in refused), *complaints(site.stack.cluster)])
    finally:
        own = {identity(body): body for body in [*beside, *sound]}
        for body in added:
            site.delete(body)
        for body in [*changed, *gone]:
            if identity(body) in own:
                site.stack.cluster.applied(own[identity(body)])
    return Row(name, codes, complaint_text, "refused by the API server" if refused else fault, variant.differs)


def identity(body: Body) -> tuple[str, str, str]:
    metadata = body["metadata"]
    return body["kind"], metadata.get("namespace", ""), metadata["name"]


def whole(bodies: Sequence[Body], beside: Sequence[Body]) -> Bodies:
    """The set with what lies beside it, which gives way where both have an object."""
    own = {identity(body) for body in bodies}
    return [*bodies, *(body for body in beside if identity(body) not in own)]


def checked(bodies: Sequence[Body], policy: Body | None = None) -> str:
    """The codes of errors and warnings that `llmaz check` has for a set of manifests; notes do not count. `policy`: the
    spec of the RenderPolicy that judges them.
    """
    kind = {"apiVersion": "renderer.llmaz.io/v1alpha1", "kind": "RenderPolicy", "metadata": {"name": "policy"}}
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w", suffix=".yaml") as rules:
        Path(folder, "all.yaml").write_text(yaml.safe_dump_all(bodies, sort_keys=False), "utf-8")
        yaml.safe_dump({**kind, "spec": policy}, rules)
        rules.flush()
        command = [sys.executable, "-m", "renderer", "check", folder, *(["--policy", rules.name] if policy else [])]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return " ".join(dict.fromkeys(CODE.findall(done.stdout + done.stderr)))


def verdict(row: Row) -> Result:
    """Whether `llmaz check` and requests agree, or a reason says why not."""
    seen = f"llmaz check: {row.check or 'silent'}; requests: {row.requests or 'served'}"
    if row.agree:
        stale = "they agree, so the reason why not has to go: " + row.differs if row.differs else ""
        return Result("llmaz check and requests agree", stale and f"{stale}; {seen}", seen)
    if row.differs:
        return Result(f"llmaz check and requests differ: {row.differs}", "", seen)
    return Result("llmaz check and requests agree", seen)


def shown(expectation: Expectation) -> str:
    """What a expectation asks, in its own words."""
    return " ".join((expectation.__doc__ or expectation.__qualname__).split()).rstrip(".").lower()


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as lines with columns."""
    cells = [
        (row.name, row.check or "–", row.controllers[:60] or "–", row.requests[:60] or "served", _agreement(row))
        for row in rows
    ]
    widths = [max(len(line[column]) for line in [COLUMNS, *cells]) for column in range(len(COLUMNS))]
    for line in [COLUMNS, *cells]:
        yield "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def _agreement(row: Row) -> str:
    return "yes" if row.agree else f"no: {row.differs}" if row.differs else "NO"
