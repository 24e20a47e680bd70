"""Whatever is done to input and manifests, the program answers: fine, or what is wrong and where. Never a fault.

Every case's input and every golden is changed at random (by a fixed seed): as a tree, and as text.
"""

from __future__ import annotations

import copy
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from renderer.kubernetes.json_values import map_at
from renderer.kubernetes.json_values import map_at
from tests.conftest import Llmaz, Outcome

ROOT = Path(__file__).resolve().parent.parent


def documents(path: Path) -> list[Any]:
    """What the file holds; nothing when it is broken on purpose."""
    try:
        return [
            document for document in yaml.safe_load_all(path.read_text(encoding="utf-8-sig")) if document is not None
        ]
    except yaml.YAMLError:
        return []


INPUTS = [
    path
    for pattern in ("tests/cases/*/input/**/*", "examples/*/*", "presets/backends/*")
    for path in sorted(ROOT.glob(pattern))
    if path.suffix in (".yaml", ".yml", ".json") and documents(path)
]
GOLDENS = sorted(ROOT.glob("tests/cases/*/expected/**/*.yaml"))
BLOCK = 72  # so many mutations are one test
VALUES: tuple[Any, ...] = (
    None, [], {}, "", " ", 0, -1, 1.5, True, False, 10**30, 2**31, float("nan"), float("inf"), "x", "-", "off", "None",
    "true", "1e3", "1Gi", "0.5", "-5", "1e99999", "9" * 400 + "Gi", "a" * 300, "é🦙\n", "a: b", "../..", "{{ Port }}",
    "{{ .ModelPath }}", "{{", "--port", "--port=1", "s3://b/k", "host:///", "oci://a/b@sha256:x", "nvidia.com/gpu",
    "Default", [None], [[]], [{}], {"a": None}, {"name": "x"}, [{"name": "x"}], [{"name": "x"}, {"name": "x"}],
)  # fmt: skip
PIECES = (
    "\t", " ", "\n", "\r\n", "\r", ":", ": ", "-", "- ", "{", "}", "[", "]", ",", "&a ", "*a", "!x ", "|", ">",
    "|2-\n", ">+\n", "'", '"', "#", "%", "@", "`", "\\", "~", "null", "off", "0x", "1e5", "=", "? ", "<<: *a", "---\n",
    "...\n", "\ufeff", "\x00", "\x7f", "\x85", "\u2028", "é", "🦙", "!!str ", "!!binary ",
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a tree, its root's first."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def changed_tree(documents: list[Any], chance: random.Random) -> list[Any]:
    """One to three values deleted, replaced, doubled, renamed, or put somewhere else."""
    documents = copy.deepcopy(documents)
    words = sorted({key for document in documents for path in places(document) for key in path if isinstance(key, str)})
    for _ in range(chance.choice([1, 1, 2, 3])):
        document = chance.choice(documents)
        paths = [path for path in places(document) if path]
        if not paths:
            continue
        *parents, key = chance.choice(paths)
        parent, other = at(document, tuple(parents)), chance.choice(documents)
        match chance.randrange(6):
            case 0:
                del parent[key]
            case 1:
                parent[key] = copy.deepcopy(chance.choice(VALUES))
            case 2:
                parent[key] = copy.deepcopy(at(other, chance.choice(list(places(other)))))
            case 3 if isinstance(parent, list):
                parent.append(copy.deepcopy(parent[key]))
            case 4 if isinstance(parent, dict):
                parent[chance.choice(words)] = parent.pop(key)
            case _:
                parent[key] = chance.choice(words)
    return documents


def changed_text(text: str, chance: random.Random) -> str:
    """One to four pieces cut out, put in, or repeated elsewhere."""
    for _ in range(chance.choice([1, 1, 2, 4])):
        start, end = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        match chance.randrange(4):
            case 0:
                text = text[:start] + text[start + chance.choice([1, 2, 10, 100]) :]
            case 1:
                text = text[:start] + text[start:end][:300] + text[start:]
            case _:
                text = text[:start] + chance.choice(PIECES) + text[start:]
    return text


def dumped(documents: list[Any]) -> str:
    return str(yaml.dump_all(documents, allow_unicode=True, sort_keys=False))


# The last line of `render`, `validate` and `check`, by exit code.
CHECKED = r"[\d,]+ objects? checked(, [\d,]+ engines?[^,]*)?"
LAST_LINE = {
    0: re.compile(rf"[\d,]+ apps?, [\d,]+ objects?( → .+|: valid)|{CHECKED}, 0 errors.*"),
    2: re.compile(rf"[\d,]+ errors?(, .*|; nothing was written)?|{CHECKED}, [1-9][\d,]* errors?.*"),
}
ERROR_WITH_PLACE = re.compile(r"^[\w.-]+:\d+:\d+: (?!warning: ).+ \[E\d{3}\]$", re.MULTILINE)


def answered(done: Outcome, seed: int) -> int:
    """The exit code, once it is sure that the program knew what it said."""
    assert done.code in LAST_LINE, (seed, done.err)
    assert LAST_LINE[done.code].fullmatch(done.err.splitlines()[-1]), (seed, done.err)
    assert "Traceback" not in done.err, (seed, done.err)
    assert not re.search(r"<[a-z_. ]+ (object )?at 0x", done.out + done.err), (seed, done.err)
    assert bool(ERROR_WITH_PLACE.search(done.err)) == (done.code == 2), (seed, done.err)
    return done.code


def put(folder: Path, source: Path, text: str) -> None:
    """The file as the only input (a RenderConfig beside a Playground)."""
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    if source.name == "llmaz.yaml":
        (folder / "chat.yaml").write_text((ROOT / "tests/cases/hardening-default/input/chat.yaml").read_text())
    name = "llmaz.yaml" if source.name == "llmaz.yaml" else f"in{source.suffix}"
    (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))


def clusters(folder: Path, out: Path) -> list[Path]:
    """The folders of the output that are applied to a cluster each: one for each environment."""
    config = folder / "llmaz.yaml"
    environments = map_at(documents(config)[0], "spec", "environments") if config.is_file() else {}
    return [out / name for name in environments if (out / name).is_dir()] or [out]


@pytest.mark.parametrize("block", range(12))
def test_changed_inputs(block: int, folder: Path, llmaz: Llmaz) -> None:
    """What is accepted renders to manifests that hold, and again to the same."""
    codes: Counter[int] = Counter()
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        chance = random.Random(seed)
        source = chance.choice(INPUTS)
        put(folder, source, dumped(changed_tree(documents(source), chance)))
        done = llmaz("render", "-o", f"out-{seed}", "--allow-empty")
        codes[answered(done, seed)] += 1
        out = folder / f"out-{seed}"
        assert out.exists() == (done.code == 0 and done.counts["new"] > 0), (seed, done.err)
        if out.exists():
            assert llmaz("render", "-o", f"out-{seed}", "--allow-empty", "--check").code == 0, seed
            for cluster in clusters(folder, out):
                check = llmaz("check", cluster)
                assert check.code == 0, (seed, check.err)
    assert codes[0] > 0
    assert codes[2] > 0


@pytest.mark.parametrize("block", range(12))
def test_changed_texts(block: int, folder: Path, llmaz: Llmaz) -> None:
    codes: Counter[int] = Counter()
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        chance = random.Random(seed)
        source = chance.choice(INPUTS)
        put(folder, source, changed_text(source.read_bytes().decode("utf-8"), chance))
        codes[answered(llmaz("validate", "--allow-empty"), seed)] += 1
    assert codes[2] > 0


@pytest.mark.parametrize("block", range(8))
def test_changed_manifests(block: int, folder: Path, llmaz: Llmaz) -> None:
    """For `llmaz check`."""
    codes: Counter[int] = Counter()
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        chance = random.Random(seed)
        source = chance.choice(GOLDENS)
        text = source.read_text()
        changed = (
            dumped(changed_tree(documents(source), chance)) if chance.random() < 0.7 else changed_text(text, chance)
        )
        put(folder, source, changed)
        codes[answered(llmaz("check", "in.yaml"), seed)] += 1
    assert codes[2] > 0
