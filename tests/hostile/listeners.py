"""Listeners on 127.0.0.1 and ::1, which show whether a program asks the addresses that its input names.

Nobody answers: the kernel keeps each connection and each datagram until `seen` is asked. So there is no thread, and
processes that are forked meanwhile share them. No program that llmaz starts has a network namespace meanwhile: from
there it would not be heard, whatever it asked.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from unittest import mock

from renderer.check.programs import process

HOSTS = ("127.0.0.1", "::1")
COUNT = 3


class Listeners:
    """Ports of the loopback on which TCP and UDP are heard."""

    def __init__(self, sockets: dict[int, list[socket.socket]]) -> None:
        self.ports = [*sockets]
        self._sockets = [(port, one) for port, group in sockets.items() for one in group]

    def addresses(self, scheme: str = "http") -> list[str]:
        """An address without path for each host and port."""
        hosts = [f"[{host}]" if ":" in host else host for host in (*HOSTS, "localhost")]
        return [f"{scheme}://{host}:{port}" for port in self.ports for host in hosts]

    def seen(self) -> list[str]:
        """What has come since the last time that this was asked, as words with the port."""
        return [f"{what} on port {port}" for port, one in self._sockets for what in _arrivals(one)]


@contextlib.contextmanager
def listeners(count: int = COUNT) -> Iterator[Listeners]:
    """Listens on that many free ports of each host, the same ones on both."""
    with contextlib.ExitStack() as stack, mock.patch.object(process, "network_namespace", tuple):
        sockets: dict[int, list[socket.socket]] = {}
        while len(sockets) < count:
            with contextlib.suppress(OSError):  # the port is taken on another host, or by UDP
                port, group = _group(stack)
                sockets[port] = group
        yield Listeners(sockets)


def _group(stack: contextlib.ExitStack) -> tuple[int, list[socket.socket]]:
    """A free port, and its sockets. Raises OSError where one of them is taken."""
    with contextlib.ExitStack() as tried:
        port, group = 0, []
        for host in HOSTS:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                one = tried.enter_context(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind))
                one.setblocking(False)
                one.bind((host, port))
                port = one.getsockname()[1]
                if kind == socket.SOCK_STREAM:
                    one.listen(1024)
                group.append(one)
        stack.push(tried.pop_all())
        return port, group


def _arrivals(one: socket.socket) -> Iterator[str]:
    """Each connection or datagram that waits, with the first bytes of it."""
    while True:
        try:
            if one.type == socket.SOCK_DGRAM:
                data = one.recvfrom(1024)[0]
            else:
                connection = one.accept()[0]
                with connection:
                    connection.setblocking(False)
                    data = b""
                    with contextlib.suppress(OSError):
                        data = connection.recv(1024)
        except BlockingIOError:
            return
        yield f"{data[:200]!r} by {'UDP' if one.type == socket.SOCK_DGRAM else 'TCP'} to {one.getsockname()[0]}"
