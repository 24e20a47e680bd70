"""Stands in for SGLang in pods of a group: `serve` with the options that make ranks meet, and the answers of rank 0.

What is real is what we render: the command line with LeaderWorkerSet's variables in it, names, ports, probes, hooks.
Rank 0 writes a token only when all other ranks have answered, so an answer is lost when one of them ends too early. As
the engine does, rank 0 finishes its answers on SIGTERM while /ready says 503, and the others end at once.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType
from typing import NamedTuple

PATIENCE = 120  # seconds until all ranks have met
PAUSE = 0.02  # seconds between tokens


class Line(NamedTuple):
    """What the command line says. `meeting`: the address of rank 0 and the port where ranks meet."""

    nodes: int
    rank: int
    meeting: tuple[str, int]
    address: tuple[str, int]
    model: str


def read_line(words: list[str]) -> Line:
    """What the words of `serve` say. SystemExit where a rank is not below the number of nodes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["serve"])
    for name in ("--nnodes", "--node-rank", "--port"):
        parser.add_argument(name, type=int, required=True)
    for name in ("--dist-init-addr", "--host", "--served-model-name"):
        parser.add_argument(name, required=True)
    values, _ = parser.parse_known_args(words)
    if not 0 <= values.node_rank < values.nnodes:
        parser.error(f"rank {values.node_rank} of {values.nnodes}")
    host, _, port = values.dist_init_addr.rpartition(":")
    meeting, address = (host, int(port)), (values.host, values.port)
    return Line(values.nnodes, values.node_rank, meeting, address, values.served_model_name)


def meet(line: Line) -> Mapping[int, socket.socket]:
    """Rank 0: the links to all other ranks. SystemExit where two have the same rank, or one does not come."""
    links: dict[int, socket.socket] = {}
    with socket.create_server(line.meeting) as server:
        server.settimeout(PATIENCE)
        while len(links) < line.nodes - 1:
            link, _ = server.accept()
            rank = int(link.recv(16))
            if rank in (0, *links):
                for open_link in (link, *links.values()):
                    open_link.close()
                sys.exit(f"rank {rank} is there twice")
            links[rank] = link
    return links


def join(line: Line) -> socket.socket:
    """Another rank: its link to rank 0. SystemExit where nobody is there."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            link = socket.create_connection(line.meeting, PATIENCE)
        except OSError as error:
            if time.monotonic() > end:
                sys.exit(f"nobody at {line.meeting}: {error}")
            time.sleep(0.2)
        else:
            link.settimeout(None)
            link.send(str(line.rank).encode())
            return link


class Work:
    """What rank 0 does: tokens that all ranks agree on, until it is told to end and the last answer is written."""

    def __init__(self, links: Mapping[int, socket.socket]) -> None:
        self.draining = False
        self._links, self._turn, self._running = links, threading.Condition(), 0

    def token(self) -> None:
        """Returns when each rank has answered. OSError where one is gone."""
        with self._turn:
            for link in self._links.values():
                link.sendall(b"?")
                if not link.recv(1):
                    raise ConnectionError("a rank is gone")

    def __enter__(self) -> None:
        with self._turn:
            self._running += 1

    def __exit__(self, *_: object) -> None:
        with self._turn:
            self._running -= 1
            self._turn.notify_all()

    def drain(self) -> None:
        """Returns when no answer is being written."""
        self.draining = True
        with self._turn:
            self._turn.wait_for(lambda: not self._running)


def handler(line: Line, work: Work) -> type[BaseHTTPRequestHandler]:
    """What answers requests: health, the list of models, streamed chat completions."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing."""

        def do_GET(self) -> None:
            self.send_response(503 if work.draining and self.path in ("/health", "/ready") else 200)
            self.end_headers()
            self.wfile.write(json.dumps({"data": [{"id": line.model}]}).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            with work:
                count = body["max_tokens"]
                for number in range(count):
                    work.token()
                    ends = number == count - 1
                    self._event({"choices": [{"finish_reason": "length" if ends else None}]})
                    time.sleep(PAUSE)
                self._event({"choices": [], "usage": {"completion_tokens": count}})
                self.wfile.write(b"data: [DONE]\n\n")

        def _event(self, event: object) -> None:
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

    return Handler


def lead(line: Line) -> None:
    """Rank 0, from the meeting to its end."""
    work = Work(meet(line))
    server = ThreadingHTTPServer(line.address, handler(line, work))

    def end() -> None:
        work.drain()
        os._exit(0)

    def handle_sigterm(number: int, _: FrameType | None) -> None:
        threading.Thread(target=end).start()

    signal.signal(signal.SIGTERM, handle_sigterm)
    server.serve_forever()


def follow(line: Line) -> None:
    """Another rank, until rank 0 is gone or SIGTERM comes."""
    signal.signal(signal.SIGTERM, lambda number, _: os._exit(0))
    link = join(line)
    while link.recv(1):
        link.send(b"!")


if __name__ == "__main__":
    own = read_line(sys.argv[1:])
    (follow if own.rank else lead)(own)
