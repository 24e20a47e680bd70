"""Trees in which each option that ended between two versions of an engine stands once, made from the option lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from renderer import load
from renderer.api import BackendRuntime
from renderer.engines.option_lists import Option, OptionList, read_option_list
from renderer.load.option_lists import OptionListReader


class Versions(NamedTuple):
    """Two versions of an engine."""

    engine: str
    old: str
    new: str
    number: int  # of the spellings that only the first one has

    @property
    def name(self) -> str:
        """For ids of tests."""
        return f"{self.engine}-{self.old}"

    @property
    def target(self) -> str:
        """The argument of `llmaz upgrade`."""
        return f"{self.engine}={self.new}"

    def tag(self, version: str) -> str:
        """The tag of the image of a version."""
        return f"server-cuda-{version}" if version.startswith("b") else f"v{version}"


UPGRADES = (
    Versions("vllm", "0.26.0", "0.33.0", 7),
    Versions("vllm", "0.10.0", "0.33.0", 43),
    Versions("sglang", "0.5.19", "0.5.23", 27),
    Versions("llamacpp", "b8929", "b11434", 29),
)
MODELS = {"vllm": "qwen3-8b", "sglang": "qwen3-8b", "llamacpp": "own"}
OWN_MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: own}
spec:
  familyName: own
  source: {modelHub: {modelID: org/own, filename: own.gguf, revision: v1}}
  inferenceConfig: {flavors: [{name: gpu, limits: {nvidia.com/gpu: 1}}]}
"""
# Words of values that the lists do not hold, or of which the first is not what people write.
VALUES = {
    "--guided-decoding-backend": "auto",
    "--task": "generate",
    "--override-attention-dtype": "bfloat16",
    "--override-pooler-config": '{"pooling_type": "MEAN"}',
    "--override-neuron-config": "{}",
    "--rope-scaling": '{"rope_type": "dynamic", "factor": 2.0}',
    "--logits-processor-pattern": "a.*",
    "--mamba-scheduler-strategy": "auto",
}
OF_TYPE = {"int": "4", "float": "1.5", "": "word", "json": "{}", "map": "{}", "count": "8"}
# How the settings of a Playground are written; arguments are there as lines of a block, or in brackets.
STYLES = {
    "block": """\
  backendRuntimeConfig:
    backendName: {engine}
    version: {tag}
    args:
{block}""",
    "crlf": """\
  backendRuntimeConfig: # for years
    args:
{block}    version: '{tag}' # pinned
    backendName: {engine}
""",
    "flow": "  backendRuntimeConfig: {{backendName: {engine}, version: {tag}, args: [{flow}]}}\n",
    "odd": """\
  backendRuntimeConfig:
         version:   "{tag}"
         backendName:    {engine}
         args: [ {flow}
           ]
""",
}


def lists(versions: Versions) -> tuple[OptionList, OptionList]:
    """The options of both versions."""
    document = load.preset(f"backends/{versions.engine}")
    runtime = BackendRuntime(versions.engine, document.value["spec"], document, ours=True)
    files = OptionListReader()
    old, new = (read_option_list(files, runtime, version) for version in (versions.old, versions.new))
    assert old is not None
    assert new is not None
    return old, new


def ended_spellings(versions: Versions) -> dict[str, Option]:
    """The options that only the older version has, by each spelling."""
    old, new = lists(versions)
    return {spelling: option for spelling, option in old.options.items() if spelling not in new.options}


def words_of(spelling: str, option: Option) -> list[str]:
    """An option with its values, as two words or more."""
    count = {"?": 1, "*": 1, "+": 2}.get(option.arity) or int(option.arity or 0) if option.arity != "0" else 0
    value = VALUES.get(option.name) or (option.choices.values[0] if option.choices.values else OF_TYPE[option.type])
    return [spelling, *([value] * count)]


def quoted(word: str) -> str:
    """A word as an item of a list."""
    return f"'{word}'" if word[:1] in "{[0123456789" or ": " in word or "*" in word else word


def playground(versions: Versions, name: str, words: list[str], style: str) -> bytes:
    """The file of a Playground with these arguments."""
    glued = style == "flow" and versions.engine != "llamacpp" and len(words) == 2
    items = [quoted("=".join(words))] if glued else [quoted(word) for word in words]
    settings = STYLES[style].format(
        engine=versions.engine,
        tag=versions.tag(versions.old),
        flow=", ".join(items),
        block="".join(f"    - {item}\n" for item in items),
    )
    text = (
        f"# {name}\napiVersion: inference.llmaz.io/v1alpha1\nkind: Playground\nmetadata:\n  name: {name}\n"
        f"  namespace: llm\nspec:\n  modelClaim: {{modelName: {MODELS[versions.engine]}}}   # of all\n"
        f"  servedModelName: {name}\n{settings}  replicas: 1\n"
    )
    if style == "crlf":
        text = text.replace("\n", "\r\n")
    return (b"\xef\xbb\xbf" if style == "odd" else b"") + text.encode()


def write_tree(folder: Path, versions: Versions) -> Iterator[tuple[str, list[str]]]:
    """Writes a file for each ended spelling; the name of the Playground and its arguments."""
    (folder / "own.yaml").write_text(OWN_MODEL, "utf-8")
    for i, (spelling, option) in enumerate(sorted(ended_spellings(versions).items())):
        name, words = f"app{i:02d}", words_of(spelling, option)
        style = list(STYLES)[i % len(STYLES)]
        (folder / f"{name}.yaml").write_bytes(playground(versions, name, words, style))
        yield name, words
