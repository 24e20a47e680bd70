"""Repositories for the commands that render them or look into them."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import TypeAlias

import yaml
from yaml import CSafeLoader

from renderer.cli.console import FORMATS
from tests.hostile import judges, manifests, repositories, words
from tests.hostile.aims import Aim, Attempt, Ended, Faults, has_checked, succeeds
from tests.hostile.listeners import Listeners

Lines: TypeAlias = Callable[[Random], Sequence[tuple[str, ...]]]
RENDERED = re.compile(r"^[\d,]+ apps?, [\d,]+ objects?( → .+: .+|: .+ is up to date)$", re.MULTILINE)
PLAYGROUND = re.compile(r"kind: Playground\b.*?\bname: ([a-z0-9-]+)", re.DOTALL)
ONE_ENVIRONMENT = ("routes", "explain", "argocd", "flux")  # commands that ask for one
HELM = ("render", "--to", "helm", "-o", "made")  # where nothing lies about


def render_lines(random: Random) -> Sequence[tuple[str, ...]]:
    """Ways to render, three of twelve of them judged by other programs."""
    form = random.choice(FORMATS)
    return [
        ("render",),
        ("render",),
        ("render",),
        ("render", "--format", form),
        ("render", "--check"),
        ("render", "--check", "--format", form),
        ("render", "--stdout"),
        ("render", "--set", f"namespace=team-{random.randrange(9)}"),
        ("render", judges.kubeconform()),
        HELM,
        HELM,
        HELM,
    ]


def validate_lines(random: Random) -> Sequence[tuple[str, ...]]:
    """Ways to validate."""
    form = random.choice(FORMATS)
    return [("validate",), ("validate", "--format", form), ("validate", "--format", form, "-v")]


def routes_lines(random: Random) -> Sequence[tuple[str, ...]]:
    """Ways to show routes."""
    return [("routes",), *(("routes", "--format", form) for form in ("json", "markdown", "table"))]


def preset_lines(random: Random) -> Sequence[tuple[str, ...]]:
    """What is asked about presets."""
    engine = random.choice(["vllm", "sglang", "llamacpp", "tgi"])
    return [("presets", "show", engine), ("presets", "list"), ("presets", "adapter-rules", ".")]


def delivery_lines(random: Random) -> Sequence[tuple[str, ...]]:
    """What is printed for other tools."""
    address = "https://git.example.com/models.git"
    return [("argocd", "application", "--repo-url", address), ("flux", "kustomization", "--repo-url", address)]


def odd_lines(random: Random) -> Sequence[tuple[str, ...]]:
    """Hostile words on the command line."""
    odd = words.text(random).replace("\x00", "")
    return [
        ("render", "--set", f"namespace={odd}"),
        ("render", "--set", odd),
        ("render", "--env", odd),
        ("render", odd),
        ("check", ".", "--external", odd),
        ("explain", "LeaderWorkerSet/chat", "spec"),
        ("explain", odd, odd),
        ("presets", "show", odd),
        ("presets", "diff", "vllm"),
        ("argocd", "application", "--repo-url", odd),
        ("validate", "--format", random.choice(FORMATS), "--strict", "-v"),
        ("diff", "--env-a", "dev", "--env-b", "prod"),
        ("kustomize", "a0.yaml"),
        ("nodepools",),
        (odd,),
        ("render", f"--{odd}"),
    ]


def attempt(lines: Lines, folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """A repository, most of which render, and one of the command lines."""
    arguments = random.choice(lines(random))
    repositories.write(folder, random)
    repository(folder, random)
    if arguments[0] in ONE_ENVIRONMENT:
        arguments += environment(folder, random)
    statuses = (0, 1, 2) if arguments[:2] == ("render", "--check") else (0, 2)
    return Attempt(arguments, reaches, partial(_faults_of_render, arguments), statuses)


def repository(folder: Path, random: Random) -> None:
    """Makes it one of git, as far as is asked, more often than not."""
    if random.random() < 0.7:
        (folder / ".git").mkdir(exist_ok=True)


def environment(folder: Path, random: Random) -> tuple[str, ...]:
    """The option that names one of the environments that a repository has."""
    try:
        config = yaml.load((folder / "llmaz.yaml").read_text("utf-8"), CSafeLoader)
        return ("--env", random.choice(sorted(config["spec"]["environments"])))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError, RecursionError):
        return ()


def reaches(ended: Ended) -> bool:
    """Whether the input came to manifests."""
    return ended.code in (0, 1)


def _faults_of_render(arguments: tuple[str, ...], ended: Ended) -> Faults:
    is_told = arguments[0] == "render" and not {"--stdout", "--format"} & {*arguments}
    if ended.code == 0 and is_told and not RENDERED.search(ended.text):
        yield "no summary", ended.text[-400:]


def attempt_odd(folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """The same with hostile words: that they are refused, or that the command ran, is all that is asked."""
    odd = attempt(odd_lines, folder, random, listeners)
    return odd._replace(reaches=lambda ended: ended.code in (0, 2))


def attempt_explain(folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """A field of what a Playground comes to."""
    repositories.write(folder, random)
    repository(folder, random)
    texts = [path.read_text("utf-8", "replace") for path in sorted(folder.glob("*.yaml")) if path.is_file()]
    names = [name for text in texts for name in PLAYGROUND.findall(text)] or ["chat"]
    name = random.choice(names)
    place = random.choice([name, name, name, f"LeaderWorkerSet/{name}", f"lws/{name}.spec"])
    return Attempt(("explain", place, *environment(folder, random)), succeeds)


def attempt_diff(folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """Two commits, of which the second has other hostile text."""
    repositories.write_legal(folder, random.choice(repositories.cases()), random)
    form = random.choice([(), ("--format", "markdown"), ("--format", "json")])
    if not judges.commit_and_change(folder, random):
        return Attempt(("validate",), succeeds)
    return Attempt(("diff", random.choice(["HEAD~1", "HEAD~1..HEAD", "HEAD~1.."]), *form), succeeds)


def attempt_check(folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """Manifests that a case renders to, a little changed."""
    bodies = copy.deepcopy(random.choice(manifests.rendered_cases())[1])
    manifests.disturb(bodies, random, 4)
    manifests.put(folder, "all.yaml", manifests.spelt(bodies, random))
    repository(folder, random)
    form = random.choice([(), ("--format", random.choice(FORMATS)), ("--strict",)])
    return Attempt(("check", ".", *form), has_checked)


def _aim(name: str, weight: float, stage: str, lines: Lines) -> Aim:
    return Aim(name, weight, stage, partial(attempt, lines))


AIMS = (
    _aim("render", 15, "manifests were made", render_lines),
    _aim("validate", 6, "manifests were made", validate_lines),
    Aim("check", 7, "objects were checked", attempt_check),
    _aim("routes", 4, "routes were shown", routes_lines),
    Aim("explain", 3, "a field was explained", attempt_explain),
    Aim("diff", 5, "both sides were compared", attempt_diff),
    _aim("presets", 2, "presets were shown", preset_lines),
    _aim("argocd, flux", 2, "objects were printed", delivery_lines),
    Aim("odd words", 5, "the command line was read", attempt_odd),
)
