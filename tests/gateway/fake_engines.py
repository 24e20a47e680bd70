"""Engines that are only pretended: servers of OpenAI's API that say in each answer what they were asked.

An engine knows the models that it is told, and answers 404 for others, as vLLM does. A request says in the end of its
prompt how it is to be answered: `sleep=2 chunks=5 gap=0.5 tokens=40`. Answers hold the field `witness`, a Witness.
A provider is the same with TLS.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypedDict

Body: TypeAlias = dict[str, Any]

WANTED = re.compile(r"\b(sleep|chunks|gap|tokens)=([\d.]+)")
PROMPT_TOKENS = 10
OK, REFUSE, LEAVING = "ok", "refuse", "leaving"


class Engine(NamedTuple):
    """What an engine is told. `models`: the names that it answers to, any when there are none; `adapters`: of these,
    what it calls LoRA adapters.
    """

    name: str
    ports: tuple[int, ...]
    models: tuple[str, ...] = ()
    adapters: tuple[str, ...] = ()
    tls: bool = False


class Witness(TypedDict):
    """What a server saw of a request."""

    pod: str  # namespace/name
    address: str
    port: int  # on which it came
    method: str
    path: str
    host: str
    requested_model: str  # under a key that no picker rewrites
    authorization: str
    headers: dict[str, str]  # those that begin with x-
    tls: bool
    usage: bool  # whether a stream is to end with its tokens


class Request(NamedTuple):
    """A request of HTTP/1.1 with its whole body; names of headers are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection, None when there is no more. ValueError for what is not HTTP."""
    line = await reader.readline()
    if not line:
        return None
    method, path, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = b"".join([chunk async for chunk in _chunks(reader)])
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, path, headers, body)


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int((await reader.readline()).partition(b";")[0], 16):
        yield await reader.readexactly(size)
        await reader.readline()
    await reader.readline()


class FakeEngines:
    """Servers at addresses of this machine. `mode` of an address: OK; a status that it answers to everything; REFUSE,
    its port is closed and its connections end; LEAVING, it takes no new connections and ends idle ones.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """`tls`: what an engine with TLS shows."""
        self._tls = tls
        self.engines: dict[str, Engine] = {}
        self.modes: dict[str, str] = {}
        self.waiting: dict[str, int] = {}
        self.waiting_at: dict[tuple[str, int], int] = {}  # of single ports
        self._running: dict[str, int] = {}
        self._servers: dict[tuple[str, int], asyncio.Server] = {}
        self._connections: dict[str, set[asyncio.StreamWriter]] = {}
        self._opening = asyncio.Lock()  # the kubelet loop and a question change engines at the same time

    async def set(self, engines: Mapping[str, Engine]) -> None:
        """Which engines there are, by address."""
        for address in self.engines.keys() - engines.keys():
            self.modes.pop(address, None)
            self.waiting.pop(address, None)
            self.waiting_at = {place: count for place, count in self.waiting_at.items() if place[0] != address}
        self.engines = dict(engines)
        await self._open()

    async def set_mode(self, address: str, mode: str) -> None:
        """How the engine at an address answers from here on."""
        self.modes[address] = mode
        await self._open()
        if mode == REFUSE:
            for writer in [*self._connections.get(address, ())]:
                writer.close()

    async def _open(self) -> None:
        """Ports are open as engines and modes have it."""
        async with self._opening:
            await self._open_wanted()

    async def _open_wanted(self) -> None:
        endpoints = {
            (address, port): engine
            for address, engine in self.engines.items()
            for port in engine.ports
            if self.modes.get(address) not in (REFUSE, LEAVING)
        }
        for place in self._servers.keys() - endpoints.keys():
            self._servers.pop(place).close()
        for place, engine in endpoints.items():
            if place not in self._servers:
                tls = self._tls if engine.tls else None
                self._servers[place] = await asyncio.start_server(self._serve, *place, ssl=tls, backlog=1024)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A connection, until one side ends it."""
        address, port = writer.get_extra_info("sockname")[:2]
        self._connections.setdefault(address, set()).add(writer)
        try:
            while (request := await read_request(reader)) is not None and self.modes.get(address) != REFUSE:
                self._running[address] = self._running.get(address, 0) + 1
                try:
                    await self._answer(address, port, request, writer)
                    await writer.drain()
                finally:
                    self._running[address] -= 1
                if self.modes.get(address) == LEAVING:
                    break
        except (OSError, ValueError, asyncio.IncompleteReadError):
            pass
        finally:
            self._connections[address].discard(writer)
            writer.close()

    async def _answer(self, address: str, port: int, request: Request, writer: asyncio.StreamWriter) -> None:
        engine, mode = self.engines.get(address), self.modes.get(address, OK)
        if engine is None:
            return send(writer, 503, {})
        if request.path.startswith("/metrics"):
            waiting = self.waiting_at.get((address, port), self.waiting.get(address, 0))
            text = metrics(engine, waiting, self._running[address] - 1)
            return send(writer, 200, text, "text/plain; version=0.0.4")
        request_body: Body = json.loads(request.body) if request.body else {}
        saw = witness(engine, (address, port), request, request_body)
        if mode.isdigit():
            return send(writer, int(mode), {"error": {"message": f"every answer is {mode}"}, "witness": saw})
        if engine.models and saw["requested_model"] not in engine.models:
            return send(
                writer,
                404,
                {"error": {"message": f"the model {saw['requested_model']} does not exist"}, "witness": saw},
            )
        options = {name: float(value) for name, value in WANTED.findall(prompt(request_body)[-200:])}
        if request_body.get("stream"):
            return await stream(writer, request_body, saw, options)
        await asyncio.sleep(options.get("sleep", 0))
        return send(writer, 200, {**completion(request.path, request_body, options), "witness": saw})


def witness(engine: Engine, place: tuple[str, int], request: Request, request_body: Body) -> Witness:
    """What the engine saw of the request."""
    headers = request.headers
    return {
        "pod": engine.name,
        "address": place[0],
        "port": place[1],
        "method": request.method,
        "path": request.path,
        "host": headers.get("host", ""),
        "requested_model": str(request_body.get("model", "")),
        "authorization": headers.get("authorization", ""),
        "headers": {name: value for name, value in headers.items() if name.startswith("x-")},
        "tls": engine.tls,
        "usage": bool((request_body.get("stream_options") or {}).get("include_usage")),
    }


_PROMPTS = ("messages", "prompt", "input", "query")


def prompt(request_body: Body) -> str:
    """The text that a request asks about."""
    return json.dumps(next((request_body[key] for key in _PROMPTS if request_body.get(key)), ""))


def usage(options: Mapping[str, float]) -> Body:
    """The tokens that an answer says it took."""
    tokens = int(options.get("tokens", 20))
    return {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": tokens, "total_tokens": PROMPT_TOKENS + tokens}


def completion(path: str, request_body: Body, options: Mapping[str, float]) -> Body:
    """An answer that is not streamed, as the API of the path has it."""
    model = request_body.get("model")
    if path.startswith("/v1/embeddings"):
        data = [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2]}]
        counted = {"prompt_tokens": PROMPT_TOKENS, "total_tokens": PROMPT_TOKENS}
        return {"object": "list", "model": model, "data": data, "usage": counted}
    if path.endswith("/rerank"):
        results = [{"index": index, "relevance_score": 0.5} for index in range(len(request_body["documents"]))]
        counted = {"prompt_tokens": PROMPT_TOKENS, "total_tokens": PROMPT_TOKENS}
        return {"id": "rerank", "model": model, "usage": counted, "results": results}  # no meta.tokens, as of vLLM
    if path.endswith("/v1/messages"):
        counted = {"input_tokens": PROMPT_TOKENS, "output_tokens": int(options.get("tokens", 20))}
        content = [{"type": "text", "text": "hello"}]
        message = {"id": "message", "type": "message", "role": "assistant", "stop_reason": "end_turn"}
        return {**message, "model": model, "content": content, "usage": counted}
    chat = path.startswith("/v1/chat")
    words = {"message": {"role": "assistant", "content": "hello"}} if chat else {"text": "hello"}
    return {
        "id": "completion",
        "object": "chat.completion" if chat else "text_completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", **words}],
        "usage": usage(options),
    }


def send(writer: asyncio.StreamWriter, status: int, body: Body | str, kind: str = "application/json") -> None:
    """Writes a whole answer."""
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    head = f"HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)


async def stream(writer: asyncio.StreamWriter, request_body: Body, saw: Witness, options: Mapping[str, float]) -> None:
    """Writes an answer as events, the tokens last where the request wants them."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    await writer.drain()

    async def event(body: Body | str) -> None:
        data = f"data: {body if isinstance(body, str) else json.dumps(body)}\n\n".encode()
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()

    common = {"id": "completion", "object": "chat.completion.chunk", "created": 1, "model": request_body.get("model")}
    await asyncio.sleep(options.get("sleep", 0))
    for number in range(int(options.get("chunks", 3))):
        choices = [{"index": 0, "delta": {"content": f"word{number} "}}]
        await event({**common, "choices": choices, **({} if number else {"witness": saw})})
        await asyncio.sleep(options.get("gap", 0))
    if saw["usage"]:
        await event({**common, "choices": [], "usage": usage(options)})
    await event("[DONE]")
    writer.write(b"0\r\n\r\n")


def metrics(engine: Engine, waiting: int, running: int) -> str:
    """What pickers read, in the words of each engine: an engine looks as busy as it is told to. A picker reads a series
    without its type as 0.
    """
    labels = f'{{model_name="{(engine.models or ("any",))[0]}"}}'
    full = min(0.9, waiting / 100)
    adapters = ",".join(engine.adapters)
    series: Sequence[tuple[str, str, float]] = (
        ("vllm:num_requests_waiting", labels, waiting),
        ("vllm:num_requests_running", labels, running),
        ("vllm:kv_cache_usage_perc", labels, full),
        ("vllm:cache_config_info", '{block_size="16",num_gpu_blocks="1000"}', 1),
        (
            "vllm:lora_requests_info",
            f'{{max_lora="4",running_lora_adapters="{adapters}",waiting_lora_adapters=""}}',
            1,
        ),
        ("sglang:num_queue_reqs", "", waiting),
        ("sglang:num_running_reqs", "", running),
        ("sglang:token_usage", "", full),
        ("llamacpp:requests_deferred", "", waiting),
        ("llamacpp:requests_processing", "", running),
    )
    return "".join(f"# TYPE {name} gauge\n{name}{words} {value}\n" for name, words, value in series)
