"""kube-apiserver and etcd on the loopback interface, for as long as a `with` block lasts, and a client."""

from __future__ import annotations

import http.client
import json
import secrets
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote, urlencode

from tests.apiserver import crds

Body: TypeAlias = dict[str, Any]

HOST = "127.0.0.1"
LEASH = Path(__file__).with_name("leash.py")
PATIENCE = 120  # seconds, for a start that takes 10
LANES = 4  # requests at a time


class CannotJudge(Exception):
    """The servers could not be started, or do not answer; nothing is known about the manifests."""


class Answer(NamedTuple):
    """What the API server said. `message` is its own words, empty when it accepts."""

    status: int
    body: Body

    @property
    def message(self) -> str:
        return "" if self.status < 300 else str(self.body.get("message", self.body))


class Resource(NamedTuple):
    """Where objects of a kind are created."""

    plural: str
    namespaced: bool


class Client:
    """Talks to the server, with one connection a thread."""

    def __init__(self, port: int, certificate: Path, token: str, host: str = HOST) -> None:
        self.place = (host, port)
        self._token = token
        self.certificate = certificate
        self._tls = ssl.create_default_context(cafile=certificate)
        self._own = threading.local()
        self._resources: dict[str, dict[str, Resource]] = {}

    def __call__(self, method: str, path: str, body: str = "", kind: str = "application/json", **query: str) -> Answer:
        """One request. Raises CannotJudge when there is no answer."""
        head = {"Authorization": f"Bearer {self._token}", "Accept": "application/json", "Content-Type": kind}
        target = f"{path}?{urlencode(query)}" if query else path
        fault: Exception | None = None
        for _ in range(3):  # the server may close an idle connection
            link: http.client.HTTPSConnection | None = getattr(self._own, "link", None)
            if link is None:
                link = self._own.link = http.client.HTTPSConnection(*self.place, context=self._tls, timeout=60)
            try:
                link.request(method, target, body.encode("utf-8", "surrogatepass"), head)
                reply = link.getresponse()
                data = reply.read()
            except (OSError, http.client.HTTPException) as error:
                link.close()
                self._own.link, fault = None, error
                continue
            try:
                content = json.loads(data)
            except ValueError:
                content = data.decode("utf-8", "replace").strip()
            return Answer(reply.status, content if isinstance(content, dict) else {"message": content})
        raise CannotJudge(f"the API server does not answer: {fault}")

    def kubeconfig(self) -> str:
        """What other programs need to talk to the same server."""
        host, port = self.place
        server = {"server": f"https://{host}:{port}", "certificate-authority": str(self.certificate)}
        body = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "judge", "cluster": server}],
            "users": [{"name": "judge", "user": {"token": self._token}}],
            "contexts": [{"name": "judge", "context": {"cluster": "judge", "user": "judge"}}],
            "current-context": "judge",
        }
        return json.dumps(body)

    def resource(self, version: str, kind: str) -> Resource | None:
        """How objects of that apiVersion and kind are created; None when the server knows none."""
        known = self._resources.get(version)
        if known is None:
            path = f"/apis/{quote(version)}" if "/" in version else f"/api/{quote(version, safe='')}"
            listed = self("GET", path).body.get("resources", ())
            known = {
                entry["kind"]: Resource(entry["name"], entry["namespaced"])
                for entry in listed
                if "/" not in entry["name"]
            }
            self._resources[version] = known
        return known.get(kind)

    def forget(self) -> None:
        """Asks again which kinds there are."""
        self._resources.clear()


def ports(count: int) -> list[int]:
    """Free ones."""
    with ExitStack() as open_:
        sockets = [open_.enter_context(socket.socket()) for _ in range(count)]
        for sock in sockets:
            sock.bind((HOST, 0))
        return [sock.getsockname()[1] for sock in sockets]


@contextmanager
def leashed(program: Path, log: Path, options: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The program, on a leash; it has ended when the block is left, however it is left."""
    with log.open("wb") as output:
        leash = subprocess.Popen(
            [sys.executable, LEASH, program.absolute(), *options],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=log.parent,
            start_new_session=True,
        )
    try:
        yield leash
    finally:
        assert leash.stdin is not None
        leash.stdin.close()
        leash.wait()


@contextmanager
def running(
    tools: Path,
    more: Sequence[Body] = (),
    *,
    accounts: bool = False,
    host: str = HOST,
    instead: Sequence[Body] | None = None,
) -> Iterator[Client]:
    """An API server with our CRDs, and its client. Both servers have ended when the block is left.

    `tools`: the folder of the programs. `more`: CRDs besides ours; `instead`: CRDs in the place of ours. `accounts`:
    whether pods need the service account that they name, for which a controller has to run. `host`: the address of this
    machine that the API server listens at. Raises CannotJudge when they do not start.
    """
    missing = [name for name in ("etcd", "kube-apiserver") if not (tools / name).exists()]
    if missing:
        raise CannotJudge(f"{' and '.join(missing)} not built: scripts/tools.sh {' '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="llmaz-apiserver-") as folder, ExitStack() as servers:
        home = Path(folder)
        clients, peers, port = ports(3)
        token = secrets.token_hex()
        (home / "tokens.csv").write_text(f"{token},judge,judge,system:masters\n")
        storage, peer, keys = f"http://{HOST}:{clients}", f"http://{HOST}:{peers}", home / "keys"
        started = []
        for name, options in (
            ("etcd", _etcd(home, storage, peer)),
            ("kube-apiserver", _apiserver(home, storage, host, port, keys, accounts)),
        ):
            started.append(servers.enter_context(leashed(tools / name, home / f"{name}.log", options)))
        client = _answering(started, home, lambda: Client(port, keys / "apiserver.crt", token, host))
        _install(client, [*(crds.definitions(tools / "crds.json") if instead is None else instead), *more])
        yield client


def _etcd(home: Path, storage: str, peer: str) -> list[str]:
    return [
        f"--data-dir={home / 'data'}",
        f"--listen-client-urls={storage}",
        f"--advertise-client-urls={storage}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def _apiserver(home: Path, storage: str, host: str, port: int, keys: Path, accounts: bool) -> list[str]:
    key = keys / "apiserver.key"  # it makes one for itself, which is good enough for service accounts nobody uses
    return [
        f"--etcd-servers={storage}",
        f"--bind-address={host}",
        f"--advertise-address={host}",
        f"--secure-port={port}",
        f"--cert-dir={keys}",
        f"--token-auth-file={home / 'tokens.csv'}",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        f"--service-account-issuer=https://{host}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=RBAC",
        "--endpoint-reconciler-type=none",
        "--allow-privileged=true",
        "--profiling=false",
        # without controllers nobody makes the account that this plugin looks for in a namespace
        *([] if accounts else ["--disable-admission-plugins=ServiceAccount"]),
    ]


def _answering(started: Sequence[subprocess.Popen[bytes]], home: Path, connect: Callable[[], Client]) -> Client:
    """The client, once the server says that it is ready. Raises CannotJudge with the ends of both logs."""
    end = time.monotonic() + PATIENCE
    reason = "no certificate"
    while time.monotonic() < end and all(program.poll() is None for program in started):
        time.sleep(0.1)
        try:
            client = connect()
            answer = client("GET", "/readyz")
        except (OSError, CannotJudge) as error:  # no file yet, half a file, nobody there
            reason = str(error)
            continue
        if answer.status == 200:
            return client
        reason = answer.message
    ends = [
        f"{log.name}: {line}"
        for log in sorted(home.glob("*.log"))
        for line in log.read_text("utf-8", "replace").splitlines()[-8:]
    ]
    raise CannotJudge("\n".join([f"the API server did not become ready: {reason}", *ends]))


def _install(client: Client, definitions: Iterable[Body]) -> None:
    """Creates the CRDs, and waits until they are served. Raises CannotJudge."""
    bodies = list(definitions)
    with ThreadPoolExecutor(LANES) as lanes:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        for crd, answer in zip(
            bodies, lanes.map(lambda crd: client("POST", path, json.dumps(crd)), bodies), strict=True
        ):
            if answer.message:
                raise CannotJudge(f"{crd['metadata']['name']}: {answer.message}")
    expected = [pair for crd in bodies for pair in crds.served(crd)]
    end = time.monotonic() + PATIENCE
    while missing := [pair for pair in expected if client.resource(*pair) is None]:
        if time.monotonic() > end:
            raise CannotJudge(f"not served: {', '.join(kind for _, kind in missing)}")
        time.sleep(0.2)
        client.forget()
