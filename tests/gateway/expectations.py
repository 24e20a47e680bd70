"""What clients expect of an example, asked anew until it holds or does not: '' when it does, else what was seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from tests.gateway.cases import KEY_HEADER, KEYS, MODEL_HEADER, TENANT_HEADER, Names, outside, reached
from tests.gateway.clients import CHAT, MESSAGES, Client
from tests.gateway.fake_engines import OK
from tests.gateway.trial import PAUSE, Site

# Of an example and its public names.
Expectation: TypeAlias = Callable[[Site, str, Names], str]


def client_of(site: Site, example: str) -> Client:
    """A client that may call everything in an example."""
    research = {KEY_HEADER: KEYS["research"]}
    if example == "gateway-auth":
        return site.client(port=10443, host="llm.example.com", tls=True, headers=research)
    return site.client(headers=research if example == "token-limits" else None)


def served(site: Site, example: str, names: Names) -> str:
    """Whether each public name of the example reaches its workload under the engine's name, three times."""
    client = client_of(site, example)
    for name, public in names.items():
        for _ in range(3):
            answer = client.ask(name)
            if not reached(answer, public, CHAT, stream=False):
                return f"{name}: {answer}"
    return ""


def hosted(site: Site, example: str, names: Names) -> str:
    """Whether each public name is served at the host that one route of a variant names, too."""
    client = client_of(site, example)
    for name in names:
        for host in ("", "llm.example.org"):
            answer = client.ask(name, host=host)
            if answer.status != 200:
                return f"{name} at {host or 'any host'}: {answer}"
    return ""


def queried(site: Site, example: str, names: Names) -> str:
    """Whether each public name is served where the path has a query, too."""
    client = client_of(site, example)
    for name, public in names.items():
        for path in (CHAT, f"{CHAT}?a=b"):
            answer = client.ask(name, path=path)
            if not reached(answer, public, CHAT, stream=False):
                return f"{name} at {path}: {answer}"
    return ""


def streamed(site: Site, example: str, names: Names) -> str:
    """Whether each public name has streams, three times."""
    client = client_of(site, example)
    for name, public in names.items():
        for _ in range(3):
            answer = client.ask(name, stream=True)
            if not reached(answer, public, CHAT, stream=True):
                return f"{name}, streamed: {answer}"
    return ""


def patient(site: Site, example: str, names: Names) -> str:
    """Whether an answer that takes four seconds comes, in one piece and streamed."""
    client = client_of(site, example)
    for stream in (False, True):
        answer = client.ask(next(iter(names)), prompt="sleep=4", stream=stream)
        if not (answer.whole if stream else answer.status == 200):
            return f"{'streamed' if stream else 'not streamed'}: {answer}"
    return ""


def rights(site: Site, _: str, __: Names) -> str:
    """Whether tenants may call what they may, others not, and forged headers change nothing."""
    client = site.client(port=10443, host="llm.example.com", tls=True)
    guest, search = {KEY_HEADER: KEYS["guest"]}, {KEY_HEADER: KEYS["search"]}
    forged = {TENANT_HEADER: "search", "x-tenant": "search"}
    for who, headers, model, status in (
        ("search", search, "chat", 200),
        ("search", search, "large", 200),
        ("guest", guest, "chat", 200),
        ("guest", guest, "large", 403),
        ("nobody", {}, "chat", 401),
        ("nobody", {}, "large", 401),
        ("guest with forged headers", {**guest, **forged, MODEL_HEADER: "chat"}, "large", 403),
        ("nobody with forged headers", {**forged, MODEL_HEADER: "large"}, "large", 401),
    ):
        answer = client.ask(model, headers=headers)
        if answer.status != status:
            return f"{who} asks for {model}: {answer.status} instead of {status}"
    return ""


def falls_back(mode: str) -> Expectation:
    """Whether the provider answers as it should where the replicas answer so, and only then."""

    def expectation(site: Site, example: str, __: Names) -> str:
        client = client_of(site, example)
        well = [client.ask("chat") for _ in range(6)]
        if wrong := [
            str(answer) for answer in well if answer.workload != "llm/chat" or answer.requested_model != "qwen3-8b"
        ]:
            return f"replicas are well: {wrong[0]}"
        site.set_mode("llm", "chat", mode)
        try:
            for _ in range(6):
                answer = client.ask("chat")
                if not outside(answer):
                    return f"replicas {f'answer {mode}' if mode.isdigit() else mode}: {answer}"
        finally:
            site.set_mode("llm", "chat", OK)
        return ""

    expectation.__doc__ = falls_back.__doc__
    return expectation


def messages(site: Site, example: str, _: Names) -> str:
    """Whether the provider answers requests of Anthropic's API where no replica does."""
    client = client_of(site, example)
    site.set_mode("llm", "chat", "503")
    try:
        answer = client.ask("chat", path=MESSAGES)
        return "" if answer.status == 200 else f"{MESSAGES}: {answer}"
    finally:
        site.set_mode("llm", "chat", OK)


def budgeted(site: Site, example: str, __: Names) -> str:
    """Whether a budget that is spent ends."""
    client = client_of(site, example)
    site.stack.forget_counts()
    statuses = []
    for _ in range(5):
        statuses.append(client.ask("chat", prompt="tokens=60000").status)
        time.sleep(PAUSE)
    site.stack.forget_counts()
    return "" if statuses[:2] == [200, 200] and statuses[-1] == 429 else f"5 requests of 60000 tokens: {statuses}"
