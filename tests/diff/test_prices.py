"""What a month costs, and whether models fit, in the first line and the table of GPUs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests import inputs
from tests.diff.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Llmaz

# An H100 costs 1,752.00 a month, an L4 on spot 156.95: 730 hours of 2.40 and of 0.215.
CONFIG = f"""{inputs.CONFIG}
  fleet: {{currency: USD, perHour: {{h100-80g: "2.40"}}}}
  flavors:
    h100: {{limits: {{nvidia.com/gpu: 1}}, accelerator: h100-80g}}
    pair: {{limits: {{nvidia.com/gpu: 2}}, accelerator: h100-80g}}
    spot: {{limits: {{nvidia.com/gpu: 1}}, accelerator: l4-24g, perHour: 0.215}}
    a10: {{limits: {{nvidia.com/gpu: 1}}, accelerator: a10-24g}}
"""


def app(name: str, flavor: str, more: str = "", model: str = "qwen3-8b") -> str:
    text = inputs.playground(name, "llm", f"{model}, inferenceFlavors: [{flavor}]")
    return f"{text}  servedModelName: {name}\n{more}"


def headline(llmaz: Llmaz) -> str:
    done = llmaz("diff")
    assert done.code == 0, done.err
    return done.out.splitlines()[-1]


def begun(folder: Path) -> Repository:
    repository = Repository(folder)
    repository.write(llmaz=CONFIG, chat=app("chat", "h100"), mails=app("mails", "h100"))
    repository.commit("first")
    return repository


def test_more_replicas(folder: Path, llmaz: Llmaz) -> None:
    """3,504.00 more: three replicas in place of one."""
    repository = begun(folder)
    repository.write(chat=app("chat", "h100", "  replicas: 3\n"))
    assert " · fits · +3,504.00 USD a month at most · 1 model changed · GPUs" in headline(llmaz)
    assert "      price: 1,752.00 → 5,256.00 USD a month at most\n" in llmaz("diff").out
    page = llmaz("diff", "--format", "markdown").out
    assert "| `llm/chat` | price of a month |  | 1,752.00 → 5,256.00 USD |\n" in page
    document = json.loads(llmaz("diff", "--format", "json").out)
    (model,) = document["models"]
    sides = [model[side]["pricePerMonth"] for side in ("before", "after")]
    assert (sides, document["currency"]) == (["1752.00", "5256.00"], "USD")


def test_less(folder: Path, llmaz: Llmaz) -> None:
    """1,595.05 less: from an H100 to spot; the other one leaves as well."""
    repository = begun(folder)
    repository.write(chat=app("chat", "spot"))
    (repository.folder / "mails.yaml").unlink()
    assert " · -3,347.05 USD a month at most · " in headline(llmaz)
    page = llmaz("diff", "--format", "markdown").out
    assert "| these models in total | price of a month |  | 3,504.00 → 156.95 USD |\n" in page
    assert "| `llm/mails` | price of a month |  | 1,752.00 USD → none |\n" in page


def test_the_most_replicas(folder: Path, llmaz: Llmaz) -> None:
    repository = begun(folder)
    elastic = "  elasticConfig: {minReplicas: 1, maxReplicas: 2, scaleTrigger: {hpa: {metrics: [&cpu {type: Resource, "
    elastic += "resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}}\n"
    repository.write(chat=app("chat", "pair", elastic))
    assert " · fits · +5,256.00 USD a month at most · " in headline(llmaz)


def test_what_has_no_price(folder: Path, llmaz: Llmaz) -> None:
    repository = begun(folder)
    repository.write(chat=app("chat", "a10"), mails=app("mails", "h100", "  replicas: 2\n"))
    assert " · price of 1 unknown, +1,752.00 USD a month of the others · 2 models changed" in headline(llmaz)
    assert " | what | a replica | at most |\n" in llmaz("diff", "--format", "markdown").out


def test_a_fit_that_nobody_knows(folder: Path, llmaz: Llmaz) -> None:
    repository = begun(folder)
    repository.write(model=inputs.gpu_model("blue"), mails=app("mails", "h100", model="blue"))
    repository.write(chat=app("chat", "h100", "  replicas: 2\n"))
    assert " · fit of 1 unknown · " in headline(llmaz)


def test_no_prices_and_no_facts(folder: Path, llmaz: Llmaz) -> None:
    """Neither a price nor a fit is spoken of."""
    repository = Repository(folder)
    repository.write(model=inputs.gpu_model("blue"), chat=inputs.playground("chat", model="blue"))
    repository.commit("first")
    repository.write(chat=inputs.playground("chat", model="blue") + "  replicas: 2\n")
    assert headline(llmaz).split(" · ")[:2] == ["no risks found", "1 model changed"]


def test_one_that_does_not_fit_beside_two_that_nobody_knows(folder: Path, llmaz: Llmaz) -> None:
    """Of 24 GB 80 % are less than 15.3 GiB of weights and 40,960 tokens; of two that come nobody says the precision."""
    repository = begun(folder)
    less = "  backendRuntimeConfig: {backendName: vllm, args: [--gpu-memory-utilization, '0.8']}\n"
    repository.write(model=inputs.gpu_model("blue"), chat=app("chat", "spot", less))
    repository.write(**{name: app(name, "h100", model="blue") for name in ("one", "two")})
    assert " · 1 of 3 does not fit, fit of 2 unknown · " in headline(llmaz)
