"""Flink beside the windowed count: compiles FlinkWindows.java against the jars that
bench/peers/install puts into .venv/, and runs it.
"""

import json
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCE = pathlib.Path(__file__).with_name("FlinkWindows.java")
CLASSES = ROOT / "build/bench-data/flink-windows"
LIMIT_SECONDS = 240


class Missing(Exception):
    """Flink or Java is not there; the message says what to do."""


class Flink:
    def __init__(self):
        dist = sorted(ROOT.glob(".venv/lib/python*/site-packages/pyflink/lib/flink-dist-*.jar"))
        lacks = [] if dist else [f"Flink's jars below {ROOT}/.venv"]
        lacks += [name for name in ["java", "javac"] if shutil.which(name) is None]
        if lacks:
            raise Missing(f"Flink is not installed (missing: {', '.join(lacks)}); run "
                          "bench/peers/install flink")
        self.jars = ":".join(map(str, sorted(dist[-1].parent.glob("*.jar"))))
        target = CLASSES / "FlinkWindows.class"
        if target.exists() and target.stat().st_mtime >= SOURCE.stat().st_mtime:
            return
        CLASSES.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["javac", "-nowarn", "-cp", self.jars, "-d", CLASSES, SOURCE],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{SOURCE.name} does not compile:\n{done.stderr[-2000:]}")

    def run(self, records, keys, records_per_ms, size_ms):
        opens = [f"--add-opens=java.base/{name}=ALL-UNNAMED"
                 for name in ("java.lang", "java.util", "java.nio", "java.net", "java.time")]
        done = subprocess.run(
            ["java", "-Xmx6g", "-XX:+UseParallelGC", *opens, "-Dlog4j2.level=ERROR", "-cp",
             f"{self.jars}{os.pathsep}{CLASSES}", "FlinkWindows",
             *map(str, [records, keys, records_per_ms, size_ms])],
            capture_output=True, text=True, timeout=LIMIT_SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"Flink failed (exit code {done.returncode}):\n{done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])
