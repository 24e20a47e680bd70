"""Clients of a gateway: requests, answers, and shares of many requests."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from tests.gateway.fake_engines import Witness

Body: TypeAlias = dict[str, Any]
T = TypeVar("T")

CHAT, COMPLETIONS, EMBEDDINGS, MODELS = "/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/models"
RERANK = "/cohere/v2/rerank"
MESSAGES = "/anthropic/v1/messages"
LANES = 8
NO_ANSWER, BROKEN = -1, -2  # in the place of a status
DONE = "data: [DONE]"
# The quantiles of chi-square that one sound run of 1,000 exceeds, by degrees of freedom.
LIMITS = {1: 10.83, 2: 13.82, 3: 16.27, 4: 18.47}
PROVIDER = "provider"


class Answer:
    """What came back. `status`: NO_ANSWER or BROKEN where the connection ended before or within; `seconds`: it took."""

    def __init__(self, status: int, text: str, seconds: float) -> None:
        self.status, self.text, self.seconds = status, text, seconds

    @cached_property
    def body(self) -> Body:
        """The JSON object, of a stream its first event; empty for what is none."""
        text = next((line[6:] for line in self.text.splitlines() if line.startswith("data: {")), self.text)
        try:
            body = json.loads(text)
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    @property
    def witness(self) -> Witness | None:
        """What the server saw that answered; None where the gateway answered itself."""
        return self.body.get("witness")

    @property
    def pod(self) -> str:
        """namespace/name of the pod that answered, '' when none did."""
        return self.witness["pod"] if self.witness else ""

    @property
    def workload(self) -> str:
        """namespace/name of the workload that answered, `provider`, or ''."""
        return self.pod.rpartition("-")[0] if "/" in self.pod else self.pod

    @property
    def requested_model(self) -> str:
        """The model that the server was asked for."""
        return self.witness["requested_model"] if self.witness else ""

    @property
    def whole(self) -> bool:
        """Whether a stream came to its end."""
        return self.status == 200 and DONE in self.text

    def __str__(self) -> str:
        by = f" by {self.pod} as {self.requested_model}" if self.witness else f" {self.text[:160]!r}"
        return f"{self.status}{by}"


class Client:
    """Sends requests to a gateway's Envoy. `headers` go with each; `host`: the Host, and with `authority` whom the
    certificate has to name.
    """

    def __init__(
        self,
        place: tuple[str, int],
        *,
        host: str = "",
        headers: Mapping[str, str] | None = None,
        authority: Path | None = None,
    ) -> None:
        self._place, self._host, self._headers = place, host, dict(headers or {})
        self._tls = ssl.create_default_context(cafile=str(authority)) if authority else None

    def ask(
        self,
        model: str,
        *,
        path: str = CHAT,
        prompt: str = "hello",
        stream: bool = False,
        headers: Mapping[str, str] | None = None,
        host: str = "",
        timeout: float = 30,
    ) -> Answer:
        """The answer to a request for a model, in the form that the path's API has."""
        body: Body = {"model": model, **({"stream": True} if stream else {})}
        if path == EMBEDDINGS:
            body["input"] = prompt
        elif path == COMPLETIONS:
            body["prompt"] = prompt
        elif path == RERANK:
            body |= {"query": prompt, "documents": ["one", "another"]}
        else:
            body["messages"] = [{"role": "user", "content": prompt}]
        if path == MESSAGES:
            body["max_tokens"] = 100
        return self.send("POST", path, json.dumps(body), headers=headers, host=host, timeout=timeout)

    def send(
        self,
        method: str,
        path: str,
        body: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        host: str = "",
        timeout: float = 30,
    ) -> Answer:
        """The answer to any request, on a connection of its own."""
        sent = {"Content-Type": "application/json", **self._headers, **(headers or {})}
        if host or self._host:
            sent["Host"] = host or self._host
        begun = time.monotonic()
        try:
            link = self._connection(timeout)
            try:
                link.request(method, path, body, sent)
                reply = link.getresponse()
                text = reply.read().decode("utf-8", "replace")
            finally:
                link.close()
        except http.client.IncompleteRead as error:
            return Answer(BROKEN, error.partial.decode("utf-8", "replace"), time.monotonic() - begun)
        except (OSError, http.client.HTTPException) as error:
            return Answer(NO_ANSWER, repr(error), time.monotonic() - begun)
        return Answer(reply.status, text, time.monotonic() - begun)

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        link = http.client.HTTPConnection(*self._place, timeout=timeout)
        if self._tls is not None:
            link.sock = self._tls.wrap_socket(
                socket.create_connection(self._place, timeout), server_hostname=self._host
            )
        return link


def many(count: int, ask: Callable[[int], T], lanes: int = LANES) -> list[T]:
    """The answers to so many requests, some at a time."""
    with ThreadPoolExecutor(lanes) as pool:
        return list(pool.map(ask, range(count)))


def chi_square(counts: Mapping[T, int], weights: Mapping[T, int]) -> tuple[float, float]:
    """(statistic, limit) of counts against weights: above the limit it is not these weights, with one error in 1,000.
    Two weights at least. Whatever is counted and has none makes the statistic infinite.
    """
    total, whole = sum(counts.values()), sum(weights.values())
    expected = {key: total * weight / whole for key, weight in weights.items() if weight}
    if any(count for key, count in counts.items() if key not in expected):
        return float("inf"), LIMITS[len(expected) - 1]
    statistic = sum((counts.get(key, 0) - share) ** 2 / share for key, share in expected.items())
    return statistic, LIMITS[len(expected) - 1]


def counted(answers: Sequence[Answer], key: Callable[[Answer], Hashable]) -> Counter[Hashable]:
    """How many answers have each key."""
    return Counter(key(answer) for answer in answers)
