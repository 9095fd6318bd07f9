"""One job of late_merge_hummer on one process or on several, and what it took.

    with Runs(build) as runs:
        report = runs.run("tcp", nodes=2, slots=1, words=["--workload", "ysb"])

Over `memory` one process has all slots. Over any other transport a node is a TaskManager, a process
of its own; those of as many nodes as the run before are kept.
"""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "acceptance/cluster"))
from cluster import ENDS_WITH_US, Cluster, Failed, Place  # noqa: E402

PROGRAM = "late_merge_hummer"
LIMIT_SECONDS = 600
# Until perf has all threads of a process.
ATTACH_SECONDS = 0.3


def children_seconds():
    """The processor time of the programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Perf:
    """Instructions and cycles of processes. `events`: None where this machine counts none."""

    def __init__(self, counts):
        self.events = None
        if counts and shutil.which("perf"):
            # Of the kernel too, where that is allowed.
            for privilege in ("", ":u"):
                events = [f"instructions{privilege}", f"cycles{privilege}"]
                done = subprocess.run(["perf", "stat", "-x", ",", "-e", ",".join(events), "true"],
                                      capture_output=True, text=True)
                if len(self.counts(done.stderr)) == 2:
                    self.events = events
                    break

    @staticmethod
    def counts(text):
        """By event; those that were not counted are missing."""
        found = re.findall(r"^(\d+),[^,]*,(instructions|cycles)\b", text, re.MULTILINE)
        return {event: int(count) for count, event in found}

    def command(self, file, *which):
        return ["perf", "stat", "-x", ",", "-e", ",".join(self.events), "-o", str(file), *which]


class Runs:
    def __init__(self, build, rdma_provider="tcp", counts=True):
        """`rdma_provider`: of libfabric, for the transport rdma. Without `counts` perf is left out,
        which takes its time with each run on a cluster."""
        self.build, self.rdma_provider = build, rdma_provider
        self.program = build / "bench" / PROGRAM
        if not self.program.exists():
            raise Failed(f"{self.program} is missing; build it first:\n"
                         f"  cmake --build --preset release --target {PROGRAM}")
        self.perf = Perf(counts)
        self.place = self.cluster = None
        self.nodes = self.slots = 0

    def __enter__(self):
        # So that the cluster ends when this script is told to.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        self.place = Place().__enter__()
        return self

    def __exit__(self, kind, error, trace):
        try:
            self.end_cluster(kind, error, trace)
        finally:
            self.place.__exit__(kind, error, trace)
        return False

    def end_cluster(self, kind=None, error=None, trace=None):
        cluster, self.cluster = self.cluster, None
        if cluster is None:
            return
        try:
            if kind is None:
                for process in reversed(cluster.processes):
                    if process.end() != 0:
                        raise Failed(f"{process.name} ended with {process.process.returncode}")
        finally:
            cluster.__exit__(kind, error, trace)

    def cluster_of(self, nodes, slots):
        if self.cluster is None or (self.nodes, self.slots) != (nodes, slots):
            self.end_cluster()
            self.nodes, self.slots = nodes, slots
            self.cluster = Cluster(self.place, self.program).__enter__()
            self.cluster.start_job_manager("--rest-listen", "none", wrap=ENDS_WITH_US)
            for node in range(nodes):
                self.cluster.start_task_manager(
                    f"node{node + 1}", "--rest-listen", "none", *self.rdma(), slots=slots,
                    wrap=ENDS_WITH_US, environment={"HUMMER_PLUGIN_PATH": str(self.build)})
        return self.cluster

    def rdma(self):
        """Where its library is not built all other transports go on."""
        has_library = (self.build / "libhummer_rdma.so").exists()
        return ["--rdma-provider", self.rdma_provider if has_library else "none"]

    def run(self, transport, nodes, slots, words):
        """The job's report, with `cpu_seconds` of all processes, and `counts` where perf has any."""
        words = [*words, "--transport", transport, "--parallelism", nodes * slots, "--quiet",
                 "--begun-us", int(time.time() * 1e6)]
        cluster = None if transport == "memory" else self.cluster_of(nodes, slots)
        before = children_seconds()
        if cluster is None:
            output, counts = self.run_embedded(words)
            processes, cpu_seconds = 1, 0
        else:
            output, counts, cpu_seconds = self.run_on_cluster(cluster, words)
            processes = nodes
        report = json.loads(output.splitlines()[-1])
        report.update(processes=processes, counts=counts,
                      cpu_seconds=cpu_seconds + children_seconds() - before)
        return report

    def run_embedded(self, words):
        command = [*ENDS_WITH_US, str(self.program), *map(str, words)]
        file = self.place.folder / "perf"
        if self.perf.events:
            command = self.perf.command(file, "--", *command)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HUMMER_")}
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS,
                              env=environment)
        if done.returncode != 0:
            raise Failed(f"{PROGRAM} {' '.join(map(str, words))} failed (exit code "
                         f"{done.returncode}):\n{done.stderr[-2000:]}")
        return done.stdout, Perf.counts(file.read_text()) if self.perf.events else {}

    def run_on_cluster(self, cluster, words):
        counts, file, perf = {}, self.place.folder / "perf", None
        workers = list(cluster.task_managers.values())
        if self.perf.events:
            perf = subprocess.Popen([*ENDS_WITH_US, *self.perf.command(
                file, "-p", ",".join(str(each.pid) for each in workers))])
            time.sleep(ATTACH_SECONDS)
        servers = [cluster.job_manager, *workers]
        before = sum(each.cpu_seconds() for each in servers)
        try:
            output = cluster.run(*words, seconds=LIMIT_SECONDS, wrap=ENDS_WITH_US)
        finally:
            cpu_seconds = sum(each.cpu_seconds() for each in servers if each.alive()) - before
            if perf:
                perf.send_signal(signal.SIGINT)
                perf.wait(10)
                counts = Perf.counts(file.read_text())
        return output, counts, cpu_seconds
