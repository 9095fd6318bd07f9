"""The plug-in for Hadoop, built and packed, and its tests (integrations/hadoop/testing/cases).

    with Item() as item:
        plugin = Plugin(item)             # Skipped without a JDK, or Maven to fetch Hadoop
        plugin.run("comparison")          # what it printed; a problem of the item where it fails
"""
import hashlib
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

from cluster import BUILD, ROOT, Failed, Skipped  # noqa: E402

SOURCES = ROOT / "integrations" / "hadoop"
CASES = SOURCES / "testing" / "cases"
SKIP = 77


def said(command):
    """What a command said on its output, and its exit code; Skipped where it lacks something."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode == SKIP:
        raise Skipped(done.stderr.strip().splitlines()[-1])
    return done


class Plugin:
    def __init__(self, item):
        self.item = item
        said([CASES, "install"])
        for command in (["cmake", "--preset", "release"],
                        ["cmake", "--build", "--preset", "release", "--target", "letters"]):
            subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        packed = said([SOURCES / "package", BUILD])
        if packed.returncode != 0:
            raise Failed(f"the plug-in can't be packed: {packed.stderr[-2000:]}")
        self.jar = packed.stdout.splitlines()[-1]
        self.runs = 0

    def run(self, name, *arguments):
        self.runs += 1
        folder = self.item.folder / f"{name}-{self.runs}"
        done = said([CASES, "run", name, self.jar, folder, *arguments])
        self.item.expect(done.returncode == 0, f"{name}: {done.stderr[-3000:]}")
        self.item.expect("WARNING" not in done.stdout, "Java's checks of JNI have found something")
        return done.stdout

    def jobs(self, name, *arguments):
        """Those of which a test prints a line of JSON each."""
        lines = [line for line in self.run(name, *arguments).splitlines() if line.startswith("{")]
        if not lines:
            raise Failed(f"{name} {' '.join(map(str, arguments))} did not run")
        return [json.loads(line) for line in lines]


def output_of(job):
    """What a job has left, as one hash."""
    parts = sorted(pathlib.Path(job["output"]).glob("part-*"))
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()


def expect_equal_sides(item, jobs):
    """Of one workload: with Hadoop's collector, the native one and a native mapper (cases mapside)."""
    jobs = list(jobs)
    workload = jobs[0]["workload"]
    item.expect(len({job["side"] for job in jobs}) == 3, f"{workload}: a side is missing")
    item.expect(len({output_of(job) for job in jobs}) == 1, f"{workload}: the output differs")
    item.expect(all((job["native_tasks"] > 0) == (job["side"] != "hadoop") for job in jobs),
                f"{workload}: a job had another collector than it should have")
