"""A cluster whose processes are killed and started again, and a job that must not show it.

    with Item() as item, Supervised(item, program) as cluster:
        cluster.start(task_managers=3, slots=2)
        job = CountingJob(item, cluster, library, records=100000, rate=2000)
        ...
        job.check()

Every server runs under a supervisor: a thread that waits for its end and starts it again at once.
CountingJob knows its output beforehand: the running count of each key, every number once, and in
this order.
"""

import contextlib
import pathlib
import re
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

from cluster import Cluster, Failed  # noqa: E402

PARALLELISM = 3
KEYS = 97
METADATA = "_metadata"


def wait_until(predicate, seconds, what, pause=0.002):
    """Its first true value."""
    end = time.monotonic() + seconds
    while True:
        found = predicate()
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(pause)


class Supervisor(threading.Thread):
    """Starts a process, and again whenever it ends; a little later when it gave up by itself."""

    PAUSE_SECONDS = 0.2

    def __init__(self, start):
        super().__init__(daemon=True)
        self.start_process = start
        self.process = start()
        self.ending = False
        self.starts = 1

    def run(self):
        while True:
            self.process.process.wait()
            if self.process.process.returncode >= 0:
                time.sleep(self.PAUSE_SECONDS)
            if self.ending:
                return
            self.process = self.start_process()
            self.starts += 1

    def kill(self):
        """SIGKILL; the supervisor does the rest."""
        with contextlib.suppress(ProcessLookupError):
            self.process.signal(signal.SIGKILL)

    def end(self):
        self.ending = True
        self.process.kill()


class Supervised(Cluster):
    """The JobManager (with a state directory) and TaskManagers, each under a supervisor."""

    def wrap_of(self, identity):
        """What the server runs under: "master", "worker1", ..."""
        return ()

    def options_of(self, identity):
        return ()

    def start_all(self, task_managers, slots, job_manager_options=(), state=None):
        self.state = state or self.item.folder / "state"
        options = ["--state-dir", self.state, *job_manager_options]
        first = super().start_job_manager(*options, wrap=self.wrap_of("master"))
        first.end()
        self.manager = Supervisor(lambda: self.start(
            "jobmanager", self.program, "jobmanager", "--listen", self.address, *options,
            wrap=self.wrap_of("master")))
        self.manager.process.wait_for("listening on")
        self.workers_by_id = {}
        for number in range(1, task_managers + 1):
            identity = f"worker{number}"
            self.workers_by_id[identity] = Supervisor(lambda identity=identity: self.start(
                identity, self.program, "taskmanager", "--slots", slots, "--id", identity,
                *self.options_of(identity), wrap=self.wrap_of(identity)))
        for each in self.supervisors():
            threading.Thread.start(each)
        self.wait_for_workers(task_managers)

    def supervisors(self):
        return [self.manager, *self.workers_by_id.values()]

    def __exit__(self, kind, error, trace):
        for each in self.supervisors() if hasattr(self, "workers_by_id") else []:
            each.ending = True
        return super().__exit__(kind, error, trace)

    def stop_all(self):
        """SIGSTOP for everyone, at once."""
        for each in self.supervisors():
            each.process.signal(signal.SIGSTOP)

    def let_go_on(self, identity):
        """SIGCONT for a TaskManager and the JobManager, which tells it what to do."""
        for each in (self.manager, self.workers_by_id[identity]):
            each.process.signal(signal.SIGCONT)

    def continue_all(self):
        for each in self.supervisors():
            with contextlib.suppress(ProcessLookupError):
                each.process.signal(signal.SIGCONT)

    def notice_of(self, identity, since_bytes, seconds=10):
        """Waits for the JobManager's line about the loss of a TaskManager."""
        log = self.manager.process.log
        pattern = re.compile(rf"TaskManager '{identity}' lost")

        def look():
            with open(log, "rb") as file:
                file.seek(since_bytes)
                return pattern.search(file.read().decode(errors="replace"))
        wait_until(look, seconds, f"the JobManager's notice of the death of {identity}")

    def log_size(self):
        return self.manager.process.log.stat().st_size


class CountingJob:
    def __init__(self, item, cluster, library, records, rate, interval_ms=200, output=None,
                 checkpoints=None):
        self.item, self.cluster, self.records = item, cluster, records
        self.output = output or item.folder / "counts"
        self.checkpoints = checkpoints or item.folder / "checkpoints"
        self.job = cluster.submit_detached(
            library, f"--parallelism={PARALLELISM}", f"--checkpoint-dir={self.checkpoints}",
            f"--checkpoint-interval-ms={interval_ms}", f"--count={records}", f"--rate={rate}",
            f"--keys={KEYS}", f"--output={self.output}")

    # ---- what is there ----

    def names(self):
        try:
            return [entry.name for entry in self.output.iterdir()]
        except FileNotFoundError:
            return []

    def visible(self):
        return {name for name in self.names() if name.startswith("part-")}

    def pending(self):
        return {name for name in self.names() if re.fullmatch(r"\.part-.*\.pending", name)}

    def superseded(self):
        """Set aside: of a checkpoint that is damaged, with what came after it."""
        return {name for name in self.names() if re.fullmatch(r"\.part-.*\.superseded", name)}

    def newest_attempt(self):
        return max((int(name.split(".")[-2]) for name in self.pending()), default=0)

    def newest_complete(self):
        """The number of the newest complete checkpoint."""
        numbers = [int(path.parent.name.rsplit("-", 1)[1])
                   for path in self.checkpoints.glob(f"job-*/chk-*/{METADATA}")]
        return max(numbers, default=0)

    # ---- waiting ----

    def progress(self, seconds):
        """Lets it run until records have become visible over `seconds`."""
        begin = time.monotonic()
        before = self.visible()
        while True:
            time.sleep(0.05)
            if time.monotonic() - begin >= seconds and self.visible() - before:
                return
            if time.monotonic() - begin > seconds + 60:
                raise Failed(f"no progress: {self.cluster.status(self.job)}")

    def wait_for_attempt_above(self, attempt, seconds=60):
        """Until a record has reached a sink of a later attempt."""
        def look():
            for name in self.pending():
                if int(name.split(".")[-2]) <= attempt:
                    continue
                with contextlib.suppress(FileNotFoundError):
                    if (self.output / name).stat().st_size > 0:
                        return name
            return None
        wait_until(look, seconds, f"an attempt after {attempt}: {self.cluster.jobs()}")

    def committed(self, checkpoint):
        """The subtasks of the sink whose part of a checkpoint is visible."""
        names = (re.match(r"part-(\d+)-(\d+)-", name) for name in self.visible())
        return {int(name[1]) for name in names if name and int(name[2]) == checkpoint}

    def stop_inside_commit(self, workers, seconds=20):
        """Everyone is stopped where one part of a checkpoint is committed and another is not: its
        number, and the worker that has committed (None when nobody knows). (None, None) when all
        were faster. `workers`: those that have a part of the job."""
        last = self.newest_complete()
        number = wait_until(lambda: (n := self.newest_complete()) > last and n, seconds,
                            "a complete checkpoint", pause=0.0002)
        self.cluster.stop_all()
        first = None
        # Where nobody has begun yet, one worker alone is let go on.
        for worker in workers:
            if self.committed(number):
                break
            first = worker
            self.cluster.let_go_on(worker)
            with contextlib.suppress(Failed):
                wait_until(lambda: self.committed(number), 1, "a commit", pause=0.0002)
            self.cluster.stop_all()
        if 0 < len(self.committed(number)) < PARALLELISM:
            return number, first
        return None, None

    # ---- the verdict ----

    def check(self, seconds, may_supersede=False):
        """It has finished, and its output is that of an undisturbed run: no loss, no duplicate, each
        key's records in order, no hidden file that has no business there. The number of lines."""
        end = self.cluster.wait_for_state(self.job, {"finished", "failed", "cancelled"}, seconds)
        self.item.expect(end["state"] == "finished", f"the job {end['state']}: {end}")
        lines = 0
        last = dict.fromkeys(range(KEYS), 0)
        # A key's records all go to one subtask: its files, part-<subtask>-<epoch>-<sink>, one after another.
        for path in sorted(self.output.glob("part-*")):
            for line in path.read_text().splitlines():
                lines += 1
                if not re.fullmatch(r"\d+\t\d+", line):
                    self.item.problem(f"{path.name}: {line[:80]!r} is no line of the job")
                    continue
                key, count = map(int, line.split("\t"))
                if count != last[key] + 1:
                    what = "again" if count <= last[key] else "too soon"
                    self.item.problem(f"{path.name}: key {key} has the count {count} {what}, after "
                                      f"{last[key]}")
                last[key] = max(last[key], count)
            if self.item.problems > 20:
                break
        for key in range(KEYS):
            times = self.records // KEYS + (1 if key < self.records % KEYS else 0)
            if last[key] != times:
                self.item.problem(f"key {key} ends with the count {last[key]}, not {times}")
            if self.item.problems > 20:
                break
        hidden = self.pending() | (set() if may_supersede else self.superseded())
        self.item.expect(not hidden, f"hidden files are left: {sorted(hidden)[:5]}")
        return lines
