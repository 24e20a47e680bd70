"""Asks real gateways about what we render: `python -m tests.gateway [--only NAME,...] [--channel CHANNEL]`.

Each example that has routes is rendered and applied; the conditions of all objects are read, requests are sent. Then
sound output with one fault each: what `llmaz check`, the controllers and requests say of it. Envoy Gateway, the AI
gateway, Envoy, the picker and the rate limit service are the real programs; engines, providers, DNS and kubelet are
pretended. All of it runs in namespaces of its own and ends with this program, however it ends.

A line for each question, `ok` or `WRONG` with what was seen. Exit status 1 when anything is wrong, 2 when nothing could
be judged. Needs Linux and root.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import yaml

from tests.apiserver.server import Body, CannotJudge
from tests.engines.__main__ import line, say
from tests.engines.namespaces import enclosed, leave_network
from tests.engines.trial import Result
from tests.gateway import comparison, network
from tests.gateway.cases import CASES, FOLDERS
from tests.gateway.controllers import CHANNELS, Stack, definitions, standing
from tests.gateway.faulty_variants import VARIANTS
from tests.gateway.programs import required, required_machine
from tests.gateway.trial import Site

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PICKER = "gateway.picker=gaie-1.5"  # the one that is built


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.gateway", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", metavar="NAME,...", help="examples and variants [all]")
    parser.add_argument("--channel", choices=CHANNELS, help="Gateway API's CRDs [both]")
    parser.add_argument(
        "--machine", action="store_true", help="ask only what has to be installed, before programs are built"
    )
    parser.add_argument("--tools", type=Path, default=ROOT / ".tools", help="folder of the programs [.tools]")
    parser.add_argument("--logs", type=Path, help="folder that gets the programs' logs")
    options = parser.parse_args()
    try:
        if options.machine:
            required_machine()
            return 0
        required(options.tools)
        names = chosen(options.only)
        channels = [options.channel] if options.channel else [*CHANNELS]
        logs = options.logs and options.logs.absolute()
        for channel in channels:
            definitions(channel)  # fetches their modules, while there is a network to the outside
        return enclosed(partial(judged, names, channels, options.tools.absolute(), logs))
    except CannotJudge as error:
        sys.stderr.write(f"cannot judge: {error}\n")
        return 2


def chosen(text: str) -> list[str]:
    """The names of what is asked. CannotJudge for one that there is not."""
    known = [*CASES, *VARIANTS]
    names = [name for name in text.split(",") if name]
    if unknown := sorted({*names} - {*known}):
        raise CannotJudge(f"no {', '.join(unknown)}; there are {', '.join(known)}")
    return [name for name in known if not names or name in names]


def judged(names: Sequence[str], channels: Sequence[str], tools: Path, logs: Path | None, folder: Path) -> int:
    """The exit status of all questions, asked in a network of this process' own. `folder`: empty."""
    begun = time.monotonic()
    results: list[Result] = []
    try:
        isolate(folder)
        for channel in channels:
            start = time.monotonic()
            with standing(tools, folder / channel, channel) as stack:
                say(f"gateways with Gateway API's {channel} channel: ready after {time.monotonic() - start:.0f} s")
                try:
                    site = Site(stack)
                    results += run(names, channel, site)
                    say(f"memory: {memory()}")
                finally:
                    if logs:
                        keep(stack, logs / channel)
    except CannotJudge as error:
        sys.stderr.write(f"cannot judge: {error}\n")
        return 2
    wrong = [result for result in results if result.fault]
    say("")
    say(f"questions: {len(results)}, wrong: {len(wrong)} ({time.monotonic() - begun:.0f} s)")
    return 1 if wrong else 0


def isolate(folder: Path) -> None:
    """Gives this process a network of its own, and covers the folder with memory, for temporary files too. CannotJudge
    where this machine does not let it.
    """
    try:
        leave_network()
        network.create()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotJudge(f"this machine gives root no network of its own: {error}") from error
    tempfile.tempdir = str(folder)


def run(names: Sequence[str], channel: str, site: Site) -> list[Result]:
    """Asks all of these examples and variants, and says what comes of each question at once."""
    begun = time.monotonic()
    results: list[Result] = []

    def report(name: str, result: Result) -> None:
        results.append(result)
        say(line(name, result, time.monotonic() - begun))

    for name in CASES:
        if name in names:
            try:
                for result in ask_questions(name, site):
                    report(name, result)
            except CannotJudge as error:
                report(name, Result("all is asked", str(error)))
    rows = []
    variants = [name for name in names if name in VARIANTS]
    for finding in comparison.compare_variants(variants, site, channel, lambda name: rendered(EXAMPLES / name)):
        report(finding.name, finding.result)
        rows += [finding.row] if finding.row else []
    if rows:
        say("")
        for text in comparison.table(rows):
            say(text)
    return results


def ask_questions(name: str, site: Site) -> Iterator[Result]:
    """The questions about an example."""
    site.clear()
    case, bodies = CASES[name], rendered(FOLDERS.get(name, EXAMPLES / name))
    refused = site.apply([*case.beside(site), *bodies])
    yield Result(f"the API server takes all {len(bodies)} objects", "; ".join(refused))
    begun = time.monotonic()
    complaints = site.settle()
    figures = f"{time.monotonic() - begun:.0f} s"
    yield Result("all conditions are good", "; ".join(complaints[:4]), figures)
    yield from case.ask(site)


def rendered(path: Path) -> list[Body]:
    """What `llmaz render` makes of an example, with the picker that is built."""
    command = [sys.executable, "-m", "renderer", "render", "--stdout", "--set", PICKER, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotJudge(f"{path} is not rendered: {done.stderr}")
    return [body for body in yaml.safe_load_all(done.stdout) if body]


def memory() -> str:
    """What the programs hold resident now, in MiB, with those that hold most."""
    figures: Counter[str] = Counter()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(entry.split(":\t", 1) for entry in status.read_text().splitlines() if ":\t" in entry)
        except OSError:  # it has ended
            continue
        figures[fields["Name"]] += int(fields.get("VmRSS", "0").split()[0]) // 1024
    shares = ", ".join(f"{name} {size}" for name, size in figures.most_common(8))
    return f"{figures.total()} MiB: {shares}"


def keep(stack: Stack, target: Path) -> None:
    """Copies the logs, and what the kubelet loop noted."""
    target.mkdir(parents=True, exist_ok=True)
    for log in stack.logs.glob("*.log"):
        (target / log.name).write_bytes(log.read_bytes())
    (target / "kubelet.log").write_text("\n".join(stack.kubelet.events) + "\n")


if __name__ == "__main__":
    sys.exit(main())
