"""One pod of a rendered manifest, started, probed and ended on this machine as kubelet does it.

The pod has a network of its own on a bridge, where other pods reach it and from which nothing leads out. Each container
has mounts, processes, IPC and a host name of its own. Its root is this machine's, with files laid over it; what it
writes there is gone with it. As rendered: init containers, volumes, environment, user and groups, capabilities,
read-only root, probes with their times, hook, SIGTERM, grace period, SIGKILL. Sidecars (init containers that stay) end
after the engine; one whose program is not at hand is left out. The loaders' programs are replaced by `cp`. Not there:
images, seccomp, limits of resources (`Pod.peak_memory` says what was taken), restarts, DNS: a pod's hosts file knows
the other pods that it asks for.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from renderer.kubernetes import quantity
from tests.apiserver.server import CannotJudge
from tests.gateway.network import NODE, PodNetwork

Body: TypeAlias = dict[str, Any]
Secrets: TypeAlias = Mapping[str, Mapping[str, str]]

MAIN = "model-runner"
LOADER = "model-loader"
PROBES = ("startup", "readiness", "liveness")
TOOLS = ("chroot", "curl", "env", "grep", "ip", "mount", "nsenter", "setpriv", "umount", "unshare")
SHORTEST_GRACE = 2  # seconds between SIGTERM and SIGKILL, however long the hook took
# What container runtimes leave to root.
CAPABILITIES = (
    *("audit_write", "chown", "dac_override", "fowner", "fsetid", "kill", "mknod", "net_bind_service"),
    *("net_raw", "setfcap", "setgid", "setpcap", "setuid", "sys_chroot"),
)
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


class Image(NamedTuple):
    """What stands in for a container's image: files of this machine by their path in the container, variables, and the
    command of containers that have none.
    """

    files: Mapping[str, Path]
    environment: Mapping[str, str] = {}
    entry: Sequence[str] = ()


class Place(NamedTuple):
    """Where a pod lies: its address on the bridge, and the addresses of the names that it can resolve."""

    address: str
    names: Mapping[str, str] = {}


class End(NamedTuple):
    """How a pod ended. `status`: of its program, negative for a signal; `hook`, `whole`: seconds."""

    status: int
    hook: float
    whole: float


class Unstartable(Exception):
    """kubelet would not start the container, or an init container failed."""


class Container:
    """A container that was started."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        self.pid = int(children[0])

    def send(self, number: signal.Signals) -> None:
        """Sends it a signal, which comes too late for one that has just ended."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # its program ends before the one that started it
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it at once, and waits until it is gone."""
        self.send(signal.SIGKILL)
        self.process.wait()


class Pod:
    """A pod. In a `with` block it is started; when the block is left, it is gone."""

    def __init__(
        self,
        name: str,
        spec: Body,
        image: Image,
        weights: Sequence[tuple[str, Path]],
        secrets: Secrets,
        folder: Path,
        place: Place,
        sidecars: Mapping[str, Image] = {},
        config_maps: Mapping[str, Mapping[str, str]] = {},
    ) -> None:
        """`weights`: what each loader puts where; one that gets none puts nothing. `sidecars`: the images of those that
        are started, by the name of the container; `config_maps`: data of ConfigMaps, by their names.
        """
        self.spec, self.main = spec, next(container for container in spec["containers"] if container["name"] == MAIN)
        self.grace: int = spec.get("terminationGracePeriodSeconds", 30)
        self.ready = self.started = False
        self.over, self.terminating = threading.Event(), threading.Event()
        self.events: list[str] = []
        self.failures: dict[str, int] = {}
        self._end: End | None = None
        self.log = folder / "log"
        self.name, self.place = name, place
        self._image, self._weights, self._secrets, self._folder = image, weights, secrets, folder
        self._container: Container | None = None
        self._images, self._config_maps = sidecars, config_maps
        self.sidecars: dict[str, Container] = {}
        self._ending = threading.Lock()
        self._begun = time.monotonic()

    def __enter__(self) -> Pod:
        for kind in PROBES:
            if not {*self.main.get(f"{kind}Probe", {"exec": {}})} & {"httpGet", "exec"}:
                raise CannotJudge(f"{self.name}: its {kind} probe is neither httpGet nor exec")
        self._folder.mkdir()
        self._volumes()
        weights = iter(self._weights)
        for container in self.spec.get("initContainers", []):
            if container.get("restartPolicy") == "Always":
                self._accompany(container)
            elif container["name"].startswith(LOADER):
                self._load(container, next(weights, None))
            else:
                self._initialize(container, self._command(container, self._image), self._image)
        if next(weights, None):
            raise CannotJudge(f"{self.name}: there are more files than loaders")
        self._note("Started")
        self._container = self._start(self.main, self._command(self.main, self._image), self._image)
        for work in (self._wait, self._supervise):
            threading.Thread(target=work, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.terminating.set()
        if self._container is not None:
            self._container.kill()
            self.over.wait()
        for sidecar in self.sidecars.values():
            sidecar.kill()
        if self._container is not None:
            self.network.remove()
        for volume in self.spec.get("volumes", []):
            if _in_memory(volume):
                subprocess.run(["umount", "--lazy", self._volume(volume["name"])], check=True)
        shutil.rmtree(self._folder / "volumes", ignore_errors=True)

    # ---- what a trial asks ----

    @property
    def container(self) -> Container:
        assert self._container is not None
        return self._container

    @cached_property
    def network(self) -> PodNetwork:
        """The pod's network, which all of its containers share."""
        network = PodNetwork(self.place.address)
        # Engines ask for the address that they would reach the world from.
        route = [*network.entry, "ip", "route", "add", "default", "via", NODE]
        subprocess.run(route, check=True)
        return network

    @property
    def port(self) -> int:
        """The one called `http`, else the first."""
        ports: Sequence[Body] = self.main["ports"]
        return int(min(ports, key=lambda port: port.get("name") != "http")["containerPort"])

    def connect(self, timeout: float, port: int | None = None) -> socket.socket:
        """A connection to the pod; OSError where nobody listens."""
        return socket.create_connection((self.place.address, port or self.port), timeout)

    def wait_ready(self, timeout: float) -> None:
        """Returns when the pod is ready. Unstartable when it has ended, or takes longer."""
        end = time.monotonic() + timeout
        while not self.ready:
            if self.over.wait(0.1):
                raise Unstartable(f"ended before it was ready: {'; '.join(self.events)}: {self.tail()}")
            if time.monotonic() > end:
                raise Unstartable(f"not ready after {timeout:.0f} s: {'; '.join(self.events)}: {self.tail()}")

    def peak_memory(self) -> int:
        """The most resident memory that the container's first process ever had, in bytes."""
        return 1024 * int(self.status("VmHWM").split()[0])

    def status(self, field: str) -> str:
        """A line of the status of the container's first process."""
        text = Path(f"/proc/{self.container.pid}/status").read_text()
        match = re.search(rf"^{field}:\s*(.*)$", text, re.MULTILINE)
        return match[1] if match else ""

    def execute(self, command: Sequence[str], timeout: float) -> int:
        """The exit status of a command in the container; 124 when it takes longer."""
        target = ["nsenter", "--target", str(self.container.pid)]
        inside = ["--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd"]
        try:
            done = subprocess.run(
                [*target, *inside, *self._privileges(self.main, self._image), *command],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            return 124
        return done.returncode

    def set_variable(self, name: str, value: str) -> None:
        """Before the start: gives a variable of the container another value than the manifest."""
        for entry in self.main["env"]:
            if entry["name"] == name:
                entry["value"] = value

    def suspend(self) -> None:
        """The program hangs from here on."""
        os.kill(self.container.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """It no longer hangs."""
        os.kill(self.container.pid, signal.SIGCONT)

    def end(self) -> End:
        """Ends it: hook, SIGTERM, and SIGKILL once the grace period is over. A second caller waits for the first."""
        with self._ending:
            if self._end is None:
                self._end = self._terminate()
            return self._end

    def tail(self, lines: int = 3) -> str:
        """The end of what the container printed."""
        return " | ".join(self.log.read_text("utf-8", "replace").splitlines()[-lines:])

    # ---- the end ----

    def _terminate(self) -> End:
        begun = time.monotonic()
        self.terminating.set()
        self._note("Killing")
        hook = self.main.get("lifecycle", {}).get("preStop", {})
        if not self.over.is_set():
            if "exec" in hook:
                status = self.execute(hook["exec"]["command"], self.grace)
                self._note(f"preStop ended with {status}")
            elif "sleep" in hook:
                self.over.wait(hook["sleep"]["seconds"])
        took = time.monotonic() - begun
        if not self.over.is_set():
            self._note("SIGTERM")
            self.container.send(signal.SIGTERM)
            if not self.over.wait(max(SHORTEST_GRACE, self.grace - took)):
                self._note("SIGKILL")
                self.container.kill()
        self.over.wait()
        end = End(self.container.process.returncode, took, time.monotonic() - begun)
        for name, sidecar in reversed(self.sidecars.items()):
            self._dismiss(name, sidecar, max(SHORTEST_GRACE, self.grace - end.whole))
        return end

    def _dismiss(self, name: str, sidecar: Container, grace: float) -> None:
        """Ends a sidecar, which comes after all else."""
        sidecar.send(signal.SIGTERM)
        try:
            sidecar.process.wait(grace)
        except subprocess.TimeoutExpired:
            sidecar.kill()
        self._note(f"sidecar {name}: exit status {sidecar.process.returncode}")

    def _wait(self) -> None:
        status = self.container.process.wait()
        self.ready = False
        self._note(f"exit status {status}")
        self.over.set()

    def _note(self, event: str) -> None:
        self.events.append(f"{time.monotonic() - self._begun:.1f} s {event}")

    # ---- probes ----

    def _supervise(self) -> None:
        """Runs the probes: first that of the startup, then the others side by side."""
        for healthy in self._verdicts("startup"):
            if healthy:
                break
            if self.terminating.is_set() or self._failed_for_good("startup"):
                return
        if self.over.is_set():
            return
        self.started = True
        threading.Thread(target=self._readiness, daemon=True).start()
        for _ in self._verdicts("liveness"):
            if self.terminating.is_set() or self._failed_for_good("liveness"):
                return

    def _readiness(self) -> None:
        for healthy in self._verdicts("readiness"):
            if healthy and not self.over.is_set():
                self.ready = True
            elif self._exhausted("readiness"):
                self.ready = False

    def _failed_for_good(self, kind: str) -> bool:
        """Whether the probe failed as often as it may; the pod is then being ended."""
        if self._exhausted(kind):
            self._note(f"{kind} failed {self.failures[kind]} times")
            threading.Thread(target=self.end, daemon=True).start()
            return True
        return False

    def _exhausted(self, kind: str) -> bool:
        return self.failures[kind] >= int(self.main.get(f"{kind}Probe", {}).get("failureThreshold", 3))

    def _verdicts(self, kind: str) -> Iterator[bool]:
        """Whether the probe succeeds, at each of its periods; a container without that probe is fine."""
        probe = self.main.get(f"{kind}Probe")
        self.failures[kind] = 0
        if probe is None:
            yield True
            return
        if self.over.wait(probe.get("initialDelaySeconds", 0)):
            return
        due = time.monotonic()
        last: bool | None = None
        while not self.over.is_set():
            healthy = self._healthy(probe)
            self.failures[kind] = 0 if healthy else self.failures[kind] + 1
            if healthy is not last:
                self._note(f"{kind} {'succeeds' if healthy else 'fails'}")
            last = healthy
            yield healthy
            due = max(due + probe.get("periodSeconds", 10), time.monotonic())
            self.over.wait(due - time.monotonic())

    def _healthy(self, probe: Body) -> bool:
        timeout = probe.get("timeoutSeconds", 1)
        if "exec" in probe:
            return self.execute(probe["exec"]["command"], timeout) == 0
        action = probe["httpGet"]
        port = action["port"]
        if isinstance(port, str):
            port = next(entry["containerPort"] for entry in self.main["ports"] if entry.get("name") == port)
        link = http.client.HTTPConnection(self.place.address, port, timeout=timeout)
        try:
            headers = {header["name"]: header["value"] for header in action.get("httpHeaders", ())}
            link.request("GET", action.get("path", "/"), headers=headers)
            return 200 <= link.getresponse().status < 400
        except (OSError, http.client.HTTPException):
            return False
        finally:
            link.close()

    # ---- the start ----

    @property
    def _fields(self) -> Mapping[str, str]:
        """What variables can ask about the pod."""
        return {"metadata.name": self.name, "status.podIP": self.place.address}

    def _volume(self, name: str) -> Path:
        return self._folder / "volumes" / name

    def _volumes(self) -> None:
        group = self.spec.get("securityContext", {}).get("fsGroup")
        for volume in self.spec.get("volumes", []):
            path = self._volume(volume["name"])
            path.mkdir(parents=True)
            if "configMap" in volume:
                self._write(volume["configMap"], path)
                continue
            if "emptyDir" not in volume:
                raise CannotJudge(f"{self.name}: volume {volume['name']}: neither an emptyDir nor of a ConfigMap")
            if _in_memory(volume):
                limit = volume["emptyDir"].get("sizeLimit")
                size = ["-o", f"size={size_of(limit)}"] if limit else []
                subprocess.run(["mount", "-t", "tmpfs", *size, "tmpfs", path], check=True)
            path.chmod(0o777)
            if group is not None:
                os.chown(path, -1, group)
                path.chmod(0o2777)

    def _write(self, source: Body, path: Path) -> None:
        """Writes the keys of a ConfigMap that a volume has, as files."""
        data = self._config_maps.get(source["name"])
        if data is None:
            raise CannotJudge(f"{self.name}: there is no ConfigMap {source['name']}")
        for item in source.get("items") or ({"key": key, "path": key} for key in data):
            (path / item["path"]).write_text(data[item["key"]], "utf-8")

    def _load(self, container: Body, weight: tuple[str, Path] | None) -> None:
        """Runs a loader, with `cp` as its program."""
        command, files = ["true"], {}
        if weight is not None:
            target, source = weight
            stand_in = f"/stand-in/{source.name}"
            command, files = (
                ["sh", "-ec", f"mkdir -p {Path(target).parent}; cp -r {stand_in} {target}"],
                {stand_in: source},
            )
        self._initialize(container, command, Image(files))

    def _accompany(self, container: Body) -> None:
        """Starts a sidecar where its program is at hand."""
        name = container["name"]
        if name not in self._images:
            self._note(f"left out: sidecar {name}")
            return
        image = self._images[name]
        self.sidecars[name] = self._start(container, self._command(container, image), image)

    def _initialize(self, container: Body, command: Sequence[str], image: Image) -> None:
        """Runs an init container to its end. Unstartable when it fails."""
        started = self._start(container, command, image)
        if started.process.wait():
            raise Unstartable(f"init container {container['name']}: {self.tail()}")

    def _start(self, container: Body, command: Sequence[str], image: Image) -> Container:
        """Starts a program in a container. CannotJudge where this machine does not let us."""
        words = [*self._privileges(container, image), *command]
        script = "\n".join(self._sandbox(container, image, words))
        flags = ["--mount", "--pid", "--ipc", "--uts", "--fork"]
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [*self.network.entry, "unshare", *flags, "sh", "-ec", script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert process.stdout is not None
        assert process.stdin is not None
        with process.stdout, process.stdin:
            if not process.stdout.readline():  # the script says when only the program is left
                process.wait()
                raise CannotJudge(f"{self.name}: no sandbox: {self.tail()}")
            started = Container(process)  # before the program starts, since it may end at once
            process.stdin.write(b"\n")
        return started

    def _sandbox(self, container: Body, image: Image, command: Sequence[str]) -> Iterator[str]:
        """The lines of a script that makes the container's root, says so, and becomes the command."""
        root = self._folder / "root"
        fixed = security_of(self.spec, container).get("readOnlyRootFilesystem", False)
        yield "mount --make-rprivate /"
        yield f"mkdir -p {root} && mount -t tmpfs tmpfs {root} && cd {root} && mkdir upper work root"
        yield f"mount -t overlay overlay -o lowerdir=/,upperdir={root}/upper,workdir={root}/work root && cd root"
        yield f"mount -t tmpfs -o mode=1777{',ro' if fixed else ''} tmpfs tmp"
        yield "mount -t proc proc proc && mount -t sysfs -o ro sysfs sys && mount -t tmpfs -o mode=755 tmpfs dev"
        yield f"for name in {' '.join(DEVICES)}; do touch dev/$name; mount --bind /dev/$name dev/$name; done"
        yield "ln -s /proc/self/fd dev/fd && mkdir dev/shm && mount -t tmpfs -o mode=1777,size=64m tmpfs dev/shm"
        yield f"echo {self.name} > proc/sys/kernel/hostname"
        names = {"localhost": "127.0.0.1", self.name: self.place.address, **self.place.names}
        lines = [f"{address} {name}" for name, address in names.items()]
        yield f"printf '%s\\n' {shlex.join(lines)} > etc/hosts"
        for target, source in image.files.items():
            create = f"mkdir -p .{target}" if source.is_dir() else f"mkdir -p .{Path(target).parent} && touch .{target}"
            yield f"{create} && mount --bind {source.absolute()} .{target}"
        for mount in container.get("volumeMounts", ()):
            source = self._volume(mount["name"]) / mount.get("subPath", "")
            target = mount["mountPath"]
            create = f"mkdir -p .{Path(target).parent} && touch .{target}"
            create = create if source.is_file() else f"mkdir -p {source} .{target}"
            yield f"{create} && mount --bind {source} .{target}"
            if mount.get("readOnly"):
                yield f"mount -o remount,bind,ro .{target}"
        if fixed:
            yield "mount -o remount,bind,ro ."
        program = f"chroot {root}/root {shlex.join(command)}"
        yield f"echo; read -r _; exec {program} < /dev/null >> {self.log} 2>&1"

    def _privileges(self, container: Body, image: Image) -> list[str]:
        """The words in front of a command that give it the container's environment, user, groups and capabilities."""
        security = security_of(self.spec, container)
        root = not security.get("runAsUser", 0)
        if security.get("runAsNonRoot") and root:
            raise Unstartable(f"container {container['name']}: runAsNonRoot, and the user is root")
        variables = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root" if root else "/",
            "HOSTNAME": self.name,
            **image.environment,
            **environment(container, self._secrets, self._fields),
        }
        return ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in variables.items()), *privileges(security)]

    def _command(self, container: Body, image: Image) -> list[str]:
        known = environment(container, self._secrets, self._fields)
        words = (*(container.get("command") or image.entry), *container.get("args", ()))
        return [expanded(word, known) for word in words]


def security_of(spec: Body, container: Body) -> Body:
    """The security context of a container: the pod's, and over it its own."""
    return {**spec.get("securityContext", {}), **container.get("securityContext", {})}


def privileges(security: Body) -> list[str]:
    """The call of setpriv that gives a program the user, groups and capabilities of a security context."""
    words = ["setpriv", f"--reuid={security.get('runAsUser', 0)}", f"--regid={security.get('runAsGroup', 0)}"]
    words.append(f"--groups={security['fsGroup']}" if "fsGroup" in security else "--clear-groups")
    words.append("--inh-caps=-all")
    if security.get("allowPrivilegeEscalation") is False:
        words.append("--no-new-privs")
    capabilities = security.get("capabilities", {})
    defaults = [] if "ALL" in capabilities.get("drop", ()) else CAPABILITIES
    bounds = ["-all", *(f"+{name}" for name in (*defaults, *map(str.lower, capabilities.get("add", ()))))]
    return [*words, f"--bounding-set={','.join(bounds)}"]


def environment(container: Body, secrets: Secrets, fields: Mapping[str, str]) -> dict[str, str]:
    """The variables of a container. `fields`: what is known of its pod. Unstartable where a Secret is missing that has
    to be there.
    """
    known: dict[str, str] = {}
    for entry in container.get("env", ()):
        name = entry["name"]
        if "valueFrom" not in entry:
            known[name] = expanded(entry.get("value", ""), known)
            continue
        field = entry["valueFrom"].get("fieldRef", {}).get("fieldPath")
        if field in fields:
            known[name] = fields[field]
            continue
        reference = entry["valueFrom"].get("secretKeyRef")
        if reference is None:
            raise CannotJudge(f"variable {name}: neither from a Secret nor a known field of the pod")
        value = secrets.get(reference["name"], {}).get(reference["key"])
        if value is not None:
            known[name] = value
        elif not reference.get("optional"):
            raise Unstartable(f"variable {name}: no {reference['key']} in Secret {reference['name']}")
    return known


def expanded(word: str, known: Mapping[str, str]) -> str:
    """The word with $(NAME) replaced where that variable is known; $$ is a dollar sign."""

    def replaced(match: re.Match[str]) -> str:
        return "$" if match[0] == "$$" else known.get(match[1], match[0])

    return re.sub(r"\$\$|\$\((\w+)\)", replaced, word)


def size_of(text: str) -> int:
    """The bytes of a quantity such as 512Mi."""
    return quantity.nanos(text) // 10**9


def _in_memory(volume: Body) -> bool:
    return bool(volume.get("emptyDir", {}).get("medium") == "Memory")


def required_tools() -> None:
    """CannotJudge unless a pod can be started by this user on this machine."""
    if not Path("/proc/self/ns/net").exists():
        raise CannotJudge("pods need Linux")
    if os.geteuid():
        raise CannotJudge("pods need root, for namespaces and other users: sudo")
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing:
        raise CannotJudge(
            f"not on the PATH: {', '.join(missing)} (packages util-linux, iproute2, coreutils, grep, curl)"
        )
