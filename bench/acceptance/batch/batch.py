"""What the items of this folder share: programs with the peak of their memory, TeraSort's records, the
JVM's programs, and figures beside their bars.

    import batch
    options = batch.options(__doc__)                    # --busy
    with batch.Item() as item:
        batch.refuse_busy(options)
        run = batch.measured(item, [program, ...])      # .output, .processor_seconds, .peak_mib, .code

Java's programs lie in bench/batch, and are compiled into build/bench-data when they are newer than what
was. What they need, bench/peers/install brings; where it is not there `Lacking` says what is missing.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import typing

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "cluster"), str(BENCH)]

import busy  # noqa: E402
from cluster import (BUILD, ROOT, SHORT, Failed, Item, Skipped, build,  # noqa: E402, F401
                     find_program, zipf_text)

DATA = ROOT / "build/bench-data/batch"
TERA_RECORD_BYTES = 100
VENV_PYTHON = ROOT / ".venv/bin/python"
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("HUMMER_")}, "LC_ALL": "C"}


class Lacking(Exception):
    """A peer is not there."""


class Run(typing.NamedTuple):
    output: str
    message: str
    processor_seconds: float  # with those of its children
    peak_mib: float
    code: int

    def json(self):
        return json.loads(self.output[self.output.index("{"):])


def options(manual, **more):
    """Of the command line; `more`: further options by name, with their defaults."""
    parser = argparse.ArgumentParser(description=manual,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--busy", action="store_true", help="measure beside others' work")
    for name, default in more.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    return parser.parse_args()


def refuse_busy(options):
    if not SHORT and not options.busy and (share := busy.share()) > busy.IDLE_SHARE:
        raise Failed(f"others use {share:.0%} of this machine (--busy measures beside them)")


def measured(item, command, expect=0, folder=None):
    """Runs a command to its end. Its peak is that of its resident memory, as wait4 tells."""
    output_file, message_file = item.folder / "standard_output", item.folder / "standard_error"
    with open(output_file, "wb") as output, open(message_file, "wb") as message:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=message, env=ENVIRONMENT, cwd=folder)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
    process.returncode = os.waitstatus_to_exitcode(status)
    run = Run(output_file.read_text(errors="replace"), message_file.read_text(errors="replace"),
              usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode)
    if expect is not None and run.code != expect:
        raise Failed(f"{' '.join(map(str, command))} ended with {run.code}, not {expect}: "
                     f"{(run.output + run.message)[-1500:]}")
    return run


WARMING = """
import mmap, sys
part = bytes(16 << 20)
with mmap.mmap(-1, int(sys.argv[1]) << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
    memory.madvise(mmap.MADV_HUGEPAGE)
    for _ in range(0, len(memory), len(part)):
        memory.write(part)
"""


def warm_memory(mebibytes):
    """Touches so much memory and lets it go. The host of a virtual machine takes pages back that are not
    in use for a while, and bringing them again costs a second and more for a gigabyte: that is nobody's
    work, and would be paid by whoever of those that are compared comes behind a pause. A process of its
    own does it, since a child's peak begins with that of its parent."""
    subprocess.run([sys.executable, "-c", WARMING, str(mebibytes)], check=True)


def tera_input(records):
    """A file of TeraSort's records, made once; bench/batch/run takes the same."""
    DATA.mkdir(parents=True, exist_ok=True)
    path = DATA / f"tera-{records}"
    if not path.exists() or path.stat().st_size != records * TERA_RECORD_BYTES:
        subprocess.run([find_program("teragen"), "--records", str(records), "--output", path, "--json"],
                       stdout=subprocess.DEVNULL, check=True)
    return path


def emptied(folder):
    """The path of a folder that is not there."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def free_bytes():
    return shutil.disk_usage(ROOT / "build").free


def hadoop_jars():
    jars = sorted((ROOT / ".cache/hadoop").glob("*.jar"))
    if not any(jar.name.startswith("hadoop-mapreduce-examples") for jar in jars):
        raise Lacking("Hadoop is not installed: bench/peers/install hadoop")
    return jars


def spark_jars():
    jars = sorted(ROOT.glob(".venv/lib/python*/site-packages/pyspark/jars/*.jar"))
    if not jars:
        raise Lacking("Spark is not installed: bench/peers/install spark")
    return jars


def has_python_module(name):
    find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{name}') is None)"
    return VENV_PYTHON.exists() and subprocess.run([VENV_PYTHON, "-c", find]).returncode == 0


class JavaProgram:
    """bench/batch/SOURCE.java with the jars of a peer."""

    OPENED = ("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio",
              "java.util", "java.util.concurrent", "java.util.concurrent.atomic")

    def __init__(self, source, jars, package=""):
        lacks = [name for name in ("java", "javac") if shutil.which(name) is None]
        if lacks:
            raise Lacking(f"there is no command {lacks[0]}")
        self.source = BENCH / "batch" / f"{source}.java"
        self.name = f"{package}.{source}" if package else source
        self.classes = DATA / f"java-{source}"
        self.path = ":".join(map(str, [self.classes, *jars]))
        target = self.classes / f"{self.name.replace('.', '/')}.class"
        if target.exists() and target.stat().st_mtime >= self.source.stat().st_mtime:
            return
        self.classes.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["javac", "-nowarn", "-cp", self.path, "-d", self.classes, self.source],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{self.source.name} does not compile: {done.stderr[-2000:]}")

    def command(self, *words, memory="4g"):
        opens = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in self.OPENED]
        return ["java", f"-Xmx{memory}", *opens, "-cp", self.path, self.name, *words]


class Bars:
    """Figures beside what they must be; in the short form figures are printed alone."""

    def __init__(self, item):
        self.item = item
        self.figures = []

    def least(self, what, figure, least, form="{:.2f}"):
        self._note(figure >= least, f"{what} {form.format(figure)} (at least {form.format(least)})")

    def most(self, what, figure, most, form="{:.2f}", always=False):
        """`always`: in the short form, too."""
        self._note(figure <= most, f"{what} {form.format(figure)} (at most {form.format(most)})", always)

    def _note(self, holds, text, always=False):
        self.figures.append(text)
        judged = always or not SHORT
        self.item.say(f"{'held  ' if holds else 'MISSED' if judged else 'short '} {text}")
        if judged:
            self.item.expect(holds, text)

    def figure(self):
        return "short: no speed is judged" if SHORT else ", ".join(self.figures)
