"""Runs rendered pods with real engines, as kubelet does it: `python -m tests.engines [TRIAL...]`.

Each engine is built once, from the sources of the version that its preset names. Models have random weights. Trials run
two at a time unless the engine says otherwise; nothing of their pods leads out of this machine, and all of them end
with this program, however it ends.

A line for each question, `ok` or `WRONG` with what was seen. Exit status 1 when anything is wrong, 2 when nothing could
be judged. Needs Linux and root.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tests.apiserver.server import CannotJudge
from tests.engines import llamacpp, ollama, sglang, vllm
from tests.engines.kubelet import Unstartable, required_tools
from tests.engines.namespaces import enclosed, leave_network
from tests.engines.trial import Bench, Result, Trial
from tests.gateway import network

ROOT = Path(__file__).resolve().parents[2]
ENGINES: Mapping[str, ModuleType] = {"llamacpp": llamacpp, "ollama": ollama, "sglang": sglang, "vllm": vllm}
LANES = 2
RESULTS = Path(__file__).with_name("results.json")  # of runs with --record; scripts/make_docs.py makes tables of it


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="TRIAL", help="as quickstart [all]")
    known = "; ".join(f"{name}: {', '.join(engine.versions())}" for name, engine in ENGINES.items())
    usage = f"engines, with blanks between: NAME for its first version, NAME@VERSION, NAME@all [llamacpp] ({known})"
    parser.add_argument("--engines", default="llamacpp", help=usage)
    parser.add_argument("--record", action="store_true", help=f"keep what was seen in {RESULTS.name}, for the pages")
    parser.add_argument("--tools", type=Path, default=ROOT / ".tools", help="folder of what is built [.tools]")
    options = parser.parse_args()
    try:
        required_tools()
        chosen = [entry for engine in options.engines.split() for entry in choices(engine, options.names)]
        return enclosed(partial(judged, chosen, options.tools.absolute(), record=options.record))
    except CannotJudge as error:
        sys.stderr.write(f"cannot judge: {error}\n")
        return 2


class Choice(NamedTuple):
    """An engine in a version, and the trials that it is put to."""

    engine: str
    version: str
    trials: Mapping[str, Trial]


def choices(text: str, names: Sequence[str]) -> Iterator[Choice]:
    """What NAME, NAME@VERSION or NAME@all stands for; of the trials those of these names, all where none is given.
    CannotJudge for what there is not.
    """
    engine, _, version = text.partition("@")
    if engine not in ENGINES:
        raise CannotJudge(f"no trials for {engine}; there are some for {', '.join(ENGINES)}")
    versions = ENGINES[engine].versions()
    if version not in ("", "all", *versions):
        raise CannotJudge(f"no trials for {engine} {version}; there are some for {', '.join(versions)}")
    for chosen in versions if version == "all" else [version or versions[0]]:
        known: Mapping[str, Trial] = ENGINES[engine].trials(chosen)
        if unknown := sorted({*names} - {*known}):
            raise CannotJudge(f"{engine} {chosen} has no trial {', '.join(unknown)}; it has {', '.join(known)}")
        yield Choice(engine, chosen, {name: trial for name, trial in known.items() if not names or name in names})


def judged(chosen: Sequence[Choice], tools: Path, folder: Path, *, record: bool) -> int:
    """The exit status of all trials. `record`: keep the questions with which nothing is wrong."""
    begun = time.monotonic()
    results: list[Result] = []
    try:
        benches = []
        for engine, version, _ in chosen:
            place = folder / f"{engine}-{version}"
            place.mkdir()
            benches.append(ENGINES[engine].bench(tools, place, version))
            say(f"{engine} {version}: ready after {time.monotonic() - begun:.0f} s")
        isolate()  # now that nothing more is fetched
        for (engine, version, known), bench in zip(chosen, benches, strict=True):
            # On Ctrl-C nobody waits for its threads, so it is no `with` block.
            lanes = ThreadPoolExecutor(getattr(ENGINES[engine], "LANES", LANES))
            answers = [result for one in lanes.map(partial(run, bench), known, known.values()) for result in one]
            results += answers
            if record:
                keep(
                    engine,
                    version,
                    [result for result in answers if not result.fault],
                    whole={*known} == {*ENGINES[engine].trials(version)},
                )
    except CannotJudge as error:
        sys.stderr.write(f"cannot judge: {error}\n")
        return 2
    wrong = [result for result in results if result.fault]
    say("")
    say(f"questions: {len(results)}, wrong: {len(wrong)} ({time.monotonic() - begun:.0f} s)")
    return 1 if wrong else 0


def isolate() -> None:
    """Gives this process, and the pods that it starts, a network from which nothing leads out."""
    try:
        leave_network()
        network.create()
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotJudge(f"this machine gives root no network of its own: {error}") from error


def keep(engine: str, version: str, answers: Sequence[Result], *, whole: bool) -> None:
    """Writes what was seen of an engine into RESULTS: in the place of what was seen of that version before where all
    trials ran (`whole`), else beside it.
    """
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.is_file() else {}
    before = [] if whole else results.get(engine, {}).get(version, {}).get("questions", [])
    questions = list(dict.fromkeys([*before, *(result.question for result in answers)]))
    results.setdefault(engine, {})[version] = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "questions": questions}
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", "utf-8")


def run(bench: Bench, name: str, trial: Trial) -> list[Result]:
    """Does a trial, and says what comes of each of its questions at once."""
    begun = time.monotonic()
    results: list[Result] = []
    try:
        for result in trial(bench):
            results.append(result)
            say(line(name, result, time.monotonic() - begun))
    except Unstartable as error:
        results.append(Result("start", str(error)))
        say(line(name, results[-1], time.monotonic() - begun))
    return results


def line(name: str, result: Result, seconds: float) -> str:
    """What is said about a result."""
    shown = f"WRONG: {' '.join(result.fault.split())}" if result.fault else "ok"
    figures = f" ({result.figures})" if result.figures and not result.fault else ""
    return f"{seconds:6.1f} s  {name}: {result.question}: {shown}{figures}"


if __name__ == "__main__":
    sys.exit(main())
