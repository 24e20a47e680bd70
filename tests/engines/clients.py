"""Clients of an engine that speaks OpenAI's API: requests, streams, and what became of them."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

PATIENCE = 300.0  # seconds without a byte
SAMPLE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{.*\})? ([^ ]+)(?: \d+)?")


class Reply(NamedTuple):
    """A whole answer. Status 0: there was none, and the text says why."""

    status: int
    text: str

    @property
    def body(self) -> Any:
        try:
            return json.loads(self.text)
        except ValueError:
            return {}


class Completion(NamedTuple):
    """What became of a streamed completion. `reason`: why the engine ended it; `fault`: '' when it came whole."""

    fault: str
    reason: str = ""
    tokens: int = 0
    timings: Mapping[str, Any] = {}


class Client:
    """Sends requests over connections that `connect` makes, each over its own."""

    def __init__(self, connect: Callable[[float], socket.socket], key: str = "", head: Mapping[str, str] = {}) -> None:
        self._connect = connect
        own = {"Authorization": f"Bearer {key}"} if key else {}
        self._head = {"Content-Type": "application/json", **own, **head}

    def _sent(self, path: str, body: object) -> http.client.HTTPConnection:
        link = http.client.HTTPConnection("pod")
        link.sock = self._connect(PATIENCE)
        try:
            text = None if body is None else json.dumps(body)
            link.request("GET" if text is None else "POST", path, text, self._head)
        except BaseException:
            link.close()
            raise
        return link

    def send(self, path: str, body: object = None) -> Reply:
        """The answer to a request: POST where there is a body."""
        try:
            link = self._sent(path, body)
        except OSError as error:
            return Reply(0, str(error))
        try:
            answer = link.getresponse()
            return Reply(answer.status, answer.read().decode("utf-8", "replace"))
        except (OSError, http.client.HTTPException) as error:
            return Reply(0, f"{type(error).__name__}: {error}")
        finally:
            link.close()

    def stream(self, path: str, body: Mapping[str, Any]) -> Completion:
        """Follows a streamed completion to its end."""
        try:
            link = self._sent(path, {**body, "stream": True, "stream_options": {"include_usage": True}})
        except OSError as error:
            return Completion(f"not sent: {error}")
        try:
            answer = link.getresponse()
            if answer.status != 200:
                return Completion(f"{answer.status} {answer.read(300).decode('utf-8', 'replace')}")
            return completion(line.decode("utf-8", "replace") for line in answer)
        except (OSError, http.client.HTTPException) as error:
            return Completion(f"cut: {type(error).__name__} {error}")
        finally:
            link.close()

    def metrics(self, path: str) -> dict[str, float]:
        """Every series by its name, summed over labels; none where the engine does not give them."""
        reply = self.send(path)
        return series(reply.text) if reply.status == 200 else {}


def completion(lines: Iterable[str]) -> Completion:
    """What a stream of events amounts to."""
    reason, tokens = "", 0
    timings: Mapping[str, Any] = {}
    for line in lines:
        name, _, text = line.strip().partition(": ")
        if name == "error":
            return Completion(f"error: {text[:300]}", reason, tokens)
        if name != "data":
            continue
        if text == "[DONE]":
            return Completion("" if reason else "done without a reason", reason, tokens, timings)
        event = json.loads(text)
        if "error" in event:
            return Completion(f"error: {event['error']}", reason, tokens)
        for choice in event.get("choices", ()):
            reason = choice.get("finish_reason") or reason
        tokens = (event.get("usage") or {}).get("completion_tokens", tokens)
        timings = event.get("timings") or timings
    return Completion("cut: the stream ended before [DONE]", reason, tokens, timings)


def series(text: str) -> dict[str, float]:
    """The samples of a page of metrics, those of one name added up."""
    sums: dict[str, float] = {}
    for line in text.splitlines():
        match = SAMPLE.fullmatch(line.strip())
        if match:
            sums[match[1]] = sums.get(match[1], 0.0) + float(match[2])
    return sums
