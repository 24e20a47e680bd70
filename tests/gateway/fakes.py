"""What is only pretended, in a thread of its own: engines, providers and DNS."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import struct
import threading
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar, cast

from tests.gateway.dns import Zone, response
from tests.gateway.fake_engines import Engine, FakeEngines

T = TypeVar("T")

PROVIDER = "10.88.250.1"  # every name outside of the cluster
PATIENCE = 20  # seconds until the thread has done what it is asked


class Resolver(asyncio.DatagramProtocol):
    """Answers questions about the zone that it holds."""

    def __init__(self) -> None:
        self.zone: Zone = {}
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)  # which no class of asyncio's own says

    def close(self) -> None:
        """Answers no more."""
        if self._transport is not None:
            self._transport.close()

    def datagram_received(self, data: bytes, address: tuple[str | Any, int]) -> None:
        assert self._transport is not None
        with contextlib.suppress(IndexError, struct.error):
            self._transport.sendto(response(data, self.zone, PROVIDER), address)


class Fakes:
    """Engines and DNS, for as long as a `with` block lasts. Its methods return when it is done."""

    def __init__(self, resolver: tuple[str, int], tls: ssl.SSLContext) -> None:
        """`resolver`: where DNS is answered; `tls`: what providers show."""
        self.engines = FakeEngines(tls)
        self._resolver, self._place = Resolver(), resolver
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Fakes:
        self._thread.start()
        self._do(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._close())  # another stack may stand at the same addresses
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        self._resolver.close()
        await self.engines.set({})

    async def _listen(self) -> None:
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self._resolver, local_addr=self._place)

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def set_zone(self, zone: Zone) -> None:
        """What DNS knows from here on."""
        self._resolver.zone = dict(zone)

    def set_engines(self, engines: Mapping[str, Engine]) -> None:
        """Which engines there are, by address; the provider is always there."""
        self._do(self.engines.set({**engines, PROVIDER: Engine("provider", (80, 443), tls=True)}))

    def set_mode(self, address: str, mode: str) -> None:
        """How the engine at that address answers, as FakeEngines has it."""
        self._do(self.engines.set_mode(address, mode))

    def set_waiting(self, address: str, requests: int, port: int = 0) -> None:
        """How many requests the metrics of that engine, or those at one port of it, say are waiting."""
        if port:
            self.engines.waiting_at[address, port] = requests
        else:
            self.engines.waiting[address] = requests
