"""Asks real gateways about what we render: `python -m tests.gateway [--only NAME,...] [--channel standard|experimental]`.

Each example that has routes is rendered and applied; the conditions of all objects are read, requests are sent. Then
sound output with one fault each: what `llmaz check`, the controllers and requests say of it. Envoy Gateway, the AI
gateway, Envoy, the picker and the rate limit service are the real programs; engines, providers, DNS and kubelet are
pretended. All of it runs in namespaces of its own and ends with this program, however it ends.

A line for each question, `ok` or `WRONG` with what was seen. Exit status 1 when anything is wrong, 2 when nothing could
be judged. Needs Linux and root.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import yaml

from tests.apiserver.server import Body, CannotJudge
from tests.engines.__main__ import line, say
from tests.engines.namespaces import enclosed, leave_network
from tests.engines.trial import Result
from tests.gateway import network
from tests.gateway.cases import CASES
from tests.gateway.controllers import CHANNELS, Stack, standing
from tests.gateway.programs import required
from tests.gateway.trial import Site

ROOT = Path(__file__).resolve().parents[2]
PICKER = "gateway.picker=gaie-1.5"  # the one that is built


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.gateway", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", metavar="NAME,...", help="examples and variants [all]")
    parser.add_argument("--channel", choices=CHANNELS, help="Gateway API's CRDs [both]")
    parser.add_argument("--tools", type=Path, default=ROOT / ".tools", help="folder of the programs [.tools]")
    parser.add_argument("--logs", type=Path, help="folder that gets the programs' logs")
    options = parser.parse_args()
    try:
        required(options.tools)
        names = chosen(options.only)
        channels = [options.channel] if options.channel else [*CHANNELS]
        logs = options.logs and options.logs.absolute()
        return enclosed(partial(judged, names, channels, options.tools.absolute(), logs))
    except CannotJudge as error:
        sys.stderr.write(f"cannot judge: {error}\n")
        return 2


def chosen(text: str) -> list[str]:
    """The names of what is asked. CannotJudge for one that there is not."""
    known = [*CASES]
    names = [name for name in text.split(",") if name]
    if unknown := sorted({*names} - {*known}):
        raise CannotJudge(f"no {', '.join(unknown)}; there are {', '.join(known)}")
    return [name for name in known if not names or name in names]


def judged(names: Sequence[str], channels: Sequence[str], tools: Path, logs: Path | None, folder: Path) -> int:
    """The exit status of all questions, asked in a network of this process' own. `folder`: empty; it is covered by
    memory, so that nothing stays of what is in it.
    """
    leave_network()
    network.create()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
    tempfile.tempdir = str(folder)
    begun = time.monotonic()
    results: list[Result] = []
    requests = 0
    try:
        for channel in channels:
            with standing(tools, folder / channel, channel) as stack:
                say(f"gateways with Gateway API's {channel} channel: ready after {time.monotonic() - begun:.0f} s")
                try:
                    site = Site(stack)
                    for name in names:
                        results += run(name, channel, site)
                        requests += sum(client.requests for client in site.clients)
                    say(f"memory: {memory(stack)}")
                finally:
                    if logs:
                        keep(stack, logs / channel)
    except CannotJudge as error:
        sys.stderr.write(f"cannot judge: {error}\n")
        return 2
    wrong = [result for result in results if result.fault]
    say("")
    say(f"questions: {len(results)}, wrong: {len(wrong)}, requests: {requests} ({time.monotonic() - begun:.0f} s)")
    return 1 if wrong else 0


def run(name: str, channel: str, site: Site) -> list[Result]:
    """Asks all about an example, and says what comes of each question at once."""
    begun = time.monotonic()
    results: list[Result] = []
    try:
        for result in asked(name, site):
            results.append(result)
            say(line(f"{name}", result, time.monotonic() - begun))
    except CannotJudge as error:
        results.append(Result("the trial goes on to its end", str(error)))
        say(line(name, results[-1], time.monotonic() - begun))
    return results


def asked(name: str, site: Site) -> Iterator[Result]:
    """The questions about an example."""
    site.clear()
    case, bodies = CASES[name], rendered(ROOT / "examples" / name)
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


def memory(stack: Stack) -> str:
    """What each program holds resident now, in MiB; the most that any had comes last."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    figures = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(entry.split(":\t", 1) for entry in status.read_text().splitlines() if ":\t" in entry)
            command = (status.parent / "cmdline").read_bytes().split(b"\0")[0].decode()
        except OSError:
            continue
        if "VmRSS" in fields:
            name = fields["Name"] if command != "/program" else fields["Name"]
            figures[name] = figures.get(name, 0) + int(fields["VmRSS"].split()[0]) // 1024
    most = sorted(figures.items(), key=lambda item: -item[1])[:9]
    return (
        f"{sum(figures.values())} MiB; {', '.join(f'{name} {size}' for name, size in most)}; a child at most {children}"
    )


def keep(stack: Stack, target: Path) -> None:
    """Copies the logs, and what the kubelet loop noted."""
    target.mkdir(parents=True, exist_ok=True)
    for log in stack.logs.glob("*.log"):
        (target / log.name).write_bytes(log.read_bytes())
    (target / "kubelet.log").write_text("\n".join(stack.kubelet.events) + "\n")


if __name__ == "__main__":
    sys.exit(main())
