"""A Flink job in Java beside one of ours: finds the jars that bench/peers/install puts into .venv/,
compiles the job against them, and gives the head of the command that runs it.
"""

import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Missing(Exception):
    """Flink or Java is not there; the message says what to do."""


class CompiledFlink:
    def __init__(self, source):
        """`source`: X.java with the class X; compiled when it is newer than what was."""
        dist = sorted(ROOT.glob(".venv/lib/python*/site-packages/pyflink/lib/flink-dist-*.jar"))
        lacks = [] if dist else [f"Flink's jars below {ROOT}/.venv"]
        lacks += [name for name in ["java", "javac"] if shutil.which(name) is None]
        if lacks:
            raise Missing(f"Flink is not installed (missing: {', '.join(lacks)}); run "
                          "bench/peers/install flink")
        self.version = re.fullmatch(r"flink-dist-(.*)\.jar", dist[-1].name).group(1)
        rocksdb = sorted((ROOT / ".cache/flink-rocksdb").glob("*.jar"))
        self.has_rocksdb = bool(rocksdb)
        self.jars = ":".join(map(str, [*sorted(dist[-1].parent.glob("*.jar")), *rocksdb]))
        self.source = source
        self.classes = ROOT / "build/bench-data" / f"flink-{source.stem}"
        target = self.classes / f"{source.stem}.class"
        if target.exists() and target.stat().st_mtime >= source.stat().st_mtime:
            return
        self.classes.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["javac", "-nowarn", "-cp", self.jars, "-d", self.classes, source],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{source.name} does not compile:\n{done.stderr[-2000:]}")

    def java(self, *options):
        """The command up to the class's name; its arguments follow."""
        opens = [f"--add-opens=java.base/{name}=ALL-UNNAMED"
                 for name in ("java.lang", "java.util", "java.nio", "java.net", "java.time")]
        return ["java", *options, *opens, "-Dlog4j2.level=ERROR", "-cp",
                f"{self.jars}{os.pathsep}{self.classes}", self.source.stem]
