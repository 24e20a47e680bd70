"""The network of a cluster on this machine: a bridge, and for each pod a network namespace with an address on it.

All of it lies in the network that `namespaces.leave_network` gave this process, from which nothing leads out, and ends
with it. This process has the address NODE. Addresses of ENGINES are its own too: servers that it pretends listen there.
"""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator

NODE = "10.88.0.1"
ENGINES = "10.88.128.0/17"
BRIDGE = "pods"
# Of its own. A bridge that was given no address has the lowest of its ports': when the pod with that one comes or goes,
# whoever has a connection to this process sends to an address that is nobody's, for half a minute.
BRIDGE_ADDRESS = "02:00:0a:58:00:01"


def ip(words: str) -> None:
    """Runs `ip` of iproute2. subprocess.CalledProcessError where it refuses."""
    subprocess.run(["ip", *words.split()], check=True, capture_output=True)


def create() -> None:
    """Makes the bridge. Namespaces of pods have their names in /run, which is covered: nothing of them stays there."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    for words in (
        "link set lo up",
        f"link add {BRIDGE} address {BRIDGE_ADDRESS} type bridge",
        f"address add {NODE}/16 dev {BRIDGE}",
        f"link set {BRIDGE} up",
        f"route add local {ENGINES} dev {BRIDGE}",
    ):
        ip(words)


def pod_addresses() -> Iterator[str]:
    """Addresses of pods, each once."""
    return (f"10.88.{third}.{fourth}" for third in range(1, 128) for fourth in range(1, 255))


def engine_addresses() -> Iterator[str]:
    """Addresses of ENGINES, each once."""
    return (f"10.88.{third}.{fourth}" for third in range(128, 240) for fourth in range(1, 255))


class PodNetwork:
    """A network namespace with one address, reached from this process and from every other pod."""

    _numbers = itertools.count()

    def __init__(self, address: str) -> None:
        self.address = address
        self._name = f"pod{next(self._numbers)}"
        ip(f"netns add {self._name}")
        ip(f"link add {self._name} type veth peer name eth0 netns {self._name}")
        ip(f"link set {self._name} master {BRIDGE} up")
        for words in ("link set lo up", f"address add {address}/16 dev eth0", "link set eth0 up"):
            ip(f"-n {self._name} {words}")

    @property
    def entry(self) -> list[str]:
        """The words in front of a command that is to run in it."""
        return ["ip", "netns", "exec", self._name]

    def remove(self) -> None:
        """Nothing is left of it once its programs have ended."""
        subprocess.run(["ip", "netns", "delete", self._name], check=False, capture_output=True)
