"""Clusters of processes for the acceptance items.

    from cluster import Cluster, Item
    item = Item()
    with Cluster(item, program) as cluster:
        cluster.start_job_manager()
        cluster.start_task_managers(2, slots=1)
        cluster.run("submit", library, "--input", text)

Every process runs in a session of its own, with its log beside it, and is killed with all that it
started when the block is left. Ports are chosen by the system. `wrap` runs a process under another
command, such as `ip netns exec NAME`; `client_wrap` is that of the clients' commands.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHORT = os.environ.get("HUMMER_SHORT", "0") != "0"
BUILD = ROOT / "build" / "release"
TOKEN = "acceptance"
READY_SECONDS = 20
# Before a command: however the script that starts it ends, the process is not left behind.
ENDS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]


def build(*targets):
    """Builds the release preset's targets; their names are those of CMake."""
    quiet = {"cwd": ROOT, "stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["cmake", "--preset", "release"], **quiet)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", *targets], **quiet)


def find_program(name):
    """A built executable or job library, wherever the build puts it."""
    for folder in ("", "examples", "bench", "src/cli", "formats", "connectors/kafka"):
        path = BUILD / folder / name
        if path.is_file():
            return path
    sys.exit(f"acceptance: {name} is not in {BUILD}")


def zipf_text(size_bytes):
    """The 1 GiB text of the engine's items (or a smaller one), made once."""
    build("zipf_text")
    folder = ROOT / "build" / "bench-data"
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / f"zipf_{size_bytes}_1_200000_1.0.txt"
    if not text.exists() or text.stat().st_size != size_bytes:
        part = text.with_suffix(".part")
        subprocess.run([find_program("zipf_text"), "--bytes", str(size_bytes), "--seed", "1",
                        "--vocabulary", "200000", "--exponent", "1.0", "--out", part],
                       stdout=subprocess.DEVNULL, check=True)
        part.rename(text)
    return text


def written_files(output):
    """What write_file left: one file, or a folder or a family of parts."""
    output = pathlib.Path(output)
    if output.is_dir():
        return sorted(p for p in output.rglob("*") if p.is_file() and not p.name.startswith("."))
    parts = sorted(p for p in output.parent.glob(output.name + "*") if p.is_file())
    return parts


def sorted_result(output, into):
    files = written_files(output)
    if not files:
        raise Failed(f"no result at {output}")
    with open(into, "wb") as sink:
        subprocess.run(["sort", *files], stdout=sink, check=True,
                       env={**os.environ, "LC_ALL": "C"})
    return into


def same_bytes(a, b):
    return subprocess.run(["cmp", "-s", a, b]).returncode == 0


class Failed(Exception):
    """A finding that ends an item."""


class Skipped(Exception):
    """The item lacks something (exit code 77)."""


def missing_command(error):
    """The name of the command that could not be started because there is none of it, or None."""
    name = error.filename if isinstance(error, FileNotFoundError) else None
    return name if isinstance(name, str) and "/" not in name else None


class Item:
    """A folder for the item, and its verdict. Use as a context; `figure` is the last line."""

    def __init__(self):
        (ROOT / "build" / "bench-data").mkdir(parents=True, exist_ok=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cluster_", dir=ROOT / "build" / "bench-data"))
        self.problems = 0
        self.waited_for = set()  # numbers of the processes that its clusters wait for
        self.skipped = []
        self.figure = ""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        code = 0
        if kind is not None and issubclass(kind, Skipped):
            self.figure, code = f"SKIPPED: {error}", 77
        elif missing_command(error) is not None:
            self.figure, code = f"SKIPPED: there is no command {missing_command(error)} here", 77
        elif kind is not None and issubclass(kind, (Failed, subprocess.TimeoutExpired)):
            print(f"FAILED: {error}")
            self.problems += 1
        elif kind is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            return False
        orphans = self.orphans(known=())
        if orphans:
            self.problem(f"processes left behind: {orphans}")
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.skipped and code == 0:
            code = 77
            self.figure = f"SKIPPED in part ({'; '.join(self.skipped)}); {self.figure}"
        if self.problems:
            code = 1
            self.figure = f"{self.problems} problems; {self.figure}"
        print(self.figure or "passed", flush=True)
        sys.exit(code)

    def say(self, text):
        print(text, flush=True)

    def skip(self, text):
        """A part of the item can't be shown here: the item goes on, but does not pass."""
        print(f"    SKIPPED: {text}", flush=True)
        self.skipped.append(text)

    def problem(self, text):
        print(f"    WRONG: {text}", flush=True)
        self.problems += 1

    def expect(self, holds, text):
        if not holds:
            self.problem(text)
        return holds

    def orphans(self, known):
        """Processes of ours that live still, but for those whose numbers are known: they have the
        item's folder in their environment."""
        mark = f"HUMMER_ITEM={self.folder}".encode()
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            if int(entry.name) in known:
                continue
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(f"{entry.name} {(entry / 'comm').read_text().strip()}")
        return found


class Place(Item):
    """The folder of a cluster that is measured, not judged; its words are no results."""

    def __exit__(self, kind, error, trace):
        shutil.rmtree(self.folder, ignore_errors=True)
        if kind is None and self.problems:
            raise Failed("its processes left others behind")
        return False

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    def problem(self, text):
        self.say(text)
        self.problems += 1


class Process:
    """A running program with its log."""

    def __init__(self, name, command, log, environment):
        self.name = name
        self.log = log
        with open(log, "wb") as output:
            self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=subprocess.STDOUT,
                                            env=environment, start_new_session=True)

    @property
    def pid(self):
        return self.process.pid

    def text(self):
        return self.log.read_text(errors="replace")

    def alive(self):
        return self.process.poll() is None

    def wait_for(self, pattern, seconds=READY_SECONDS):
        end = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.text())
            if found:
                return found
            if not self.alive() and not re.search(pattern, self.text()):
                raise Failed(f"{self.name} ended with {self.process.returncode}: {self.text()[-500:]}")
            if time.monotonic() > end:
                raise Failed(f"{self.name} did not say /{pattern}/: {self.text()[-500:]}")
            time.sleep(0.02)

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=60):
        return self.process.wait(seconds)

    def end(self):
        """SIGTERM, and it must end in good order within ten seconds."""
        if self.alive():
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
        return self.wait(10)

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self):
        pages = int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE")

    def peak_resident_bytes(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) << 10


class Cluster:
    def __init__(self, item, program, host="127.0.0.1", token=TOKEN):
        self.item = item
        self.program = program
        self.host = host
        self.address = ""
        self.client_wrap = ()
        self.job_manager = None
        self.task_managers = {}
        self.processes = []
        self.started = 0
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("HUMMER_")}
        self.environment["HUMMER_ITEM"] = str(item.folder)
        if token:
            self.environment["HUMMER_TOKEN"] = token

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            for process in self.processes:
                self.item.say(f"--- log of {process.name}\n{process.text()[-1500:]}")
        # Before anything is killed: what nobody here has started, a process of ours has left behind.
        orphans = self.item.orphans(known=self.item.waited_for)
        if orphans:
            self.item.problem(f"processes that no one waits for: {orphans}")
        for process in self.processes:
            process.kill()
        return False

    def environment_with(self, changes):
        """That of this cluster's processes, but for these variables; None takes one away."""
        changed = {**self.environment, **(changes or {})}
        return {name: value for name, value in changed.items() if value is not None}

    def start(self, name, *command, wrap=(), environment=None):
        self.started += 1
        log = self.item.folder / f"{self.started:02d}_{name}.log"
        process = Process(name, [*wrap, *command], log, self.environment_with(environment))
        self.processes.append(process)
        self.item.waited_for.add(process.pid)
        return process

    def start_job_manager(self, *options, wrap=(), listen=None):
        listen = listen or f"{self.host}:0"
        process = self.start("jobmanager", self.program, "jobmanager", "--listen", listen, *options,
                             wrap=wrap)
        self.address = process.wait_for(r"listening on (\S+)").group(1)
        self.environment["HUMMER_JOB_MANAGER"] = self.address
        self.job_manager = process
        return process

    def start_task_manager(self, identity, *options, slots=1, wrap=(), wait=True, environment=None):
        process = self.start(identity, self.program, "taskmanager", "--slots", slots, "--id", identity,
                             *options, wrap=wrap, environment=environment)
        self.task_managers[identity] = process
        if wait:
            process.wait_for("registered at")
        return process

    def start_task_managers(self, count, *options, slots=1):
        return [self.start_task_manager(f"worker{i + 1}", *options, slots=slots)
                for i in range(count)]

    def run(self, *command, expect=0, seconds=300, wrap=(), environment=None):
        """A command of a client, to its end: its standard output."""
        wrap = wrap or self.client_wrap
        done = subprocess.run([*map(str, wrap), str(self.program), *map(str, command)],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds,
                              env=self.environment_with(environment))
        self.output = done.stdout.decode(errors="replace")
        self.message = done.stderr.decode(errors="replace")
        if expect is not None and done.returncode != expect:
            raise Failed(f"{' '.join(map(str, command))} ended with {done.returncode}, not {expect}: "
                         f"{self.message[-500:]}")
        self.code = done.returncode
        return self.output

    def submit(self, *command, wrap=()):
        """A client that watches its job, as a process of its own."""
        return self.start("submit", self.program, "submit", *command, wrap=wrap)

    def submit_detached(self, *command):
        return int(self.run("submit", "--detached", *command).strip())

    def status(self, job):
        return json.loads(self.run("status", job, "--json"))

    def jobs(self):
        return json.loads(self.run("list", "--json"))["jobs"]

    def workers(self):
        return json.loads(self.run("taskmanagers", "--json"))["task_managers"]

    def wait_for_state(self, job, states, seconds=30):
        states = {states} if isinstance(states, str) else set(states)
        end = time.monotonic() + seconds
        while True:
            status = self.status(job)
            if status["state"] in states:
                return status
            if time.monotonic() > end:
                raise Failed(f"job {job} is {status['state']} after {seconds} s, not {states}: "
                             f"{status}")
            time.sleep(0.05)

    def wait_for_workers(self, alive, seconds=15):
        end = time.monotonic() + seconds
        while True:
            now = [w for w in self.workers() if w["state"] == "alive"]
            if len(now) == alive:
                return now
            if time.monotonic() > end:
                raise Failed(f"{len(now)} workers are alive after {seconds} s, not {alive}")
            time.sleep(0.05)
