"""Flink beside the engine's paths: finds the jars that bench/peers/install puts into .venv/,
compiles FlinkMicro.java against them, and gives the commands to run it.
"""

import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCE = pathlib.Path(__file__).with_name("FlinkMicro.java")
CLASSES = ROOT / "build/bench-data/flink-classes"
# As the defaults in kernels.hpp; if one differs, so do the hashes.
PARAMETERS = [0x5BD1E995, 12345, 0xA5A5A5A5]
# name: what carries a record, the JVM's collector. No one of them is the fastest on all machines.
FORMS = {"value": ("value", "-XX:+UseG1GC"),
         "value, parallel collector": ("value", "-XX:+UseParallelGC"),
         "long, parallel collector": ("long", "-XX:+UseParallelGC")}


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
        self.version = re.fullmatch(r"flink-dist-(.*)\.jar", dist[-1].name).group(1)
        self.jars = ":".join(map(str, sorted(dist[-1].parent.glob("*.jar"))))
        self.compile()

    def compile(self):
        target = CLASSES / "FlinkMicro.class"
        if target.exists() and target.stat().st_mtime >= SOURCE.stat().st_mtime:
            return
        CLASSES.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["javac", "-nowarn", "-cp", self.jars, "-d", CLASSES, SOURCE],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{SOURCE.name} does not compile:\n{done.stderr[-2000:]}")

    def command(self, path, form, warm_up, records):
        carrier, collector = FORMS[form]
        opens = [f"--add-opens=java.base/{name}=ALL-UNNAMED"
                 for name in ("java.lang", "java.util", "java.nio", "java.net", "java.time")]
        return ["java", "-Xmx2g", collector, *opens, "-Dlog4j2.level=ERROR", "-cp",
                f"{self.jars}{os.pathsep}{CLASSES}", "FlinkMicro", path, carrier,
                *map(str, [warm_up, records, *PARAMETERS])]

    @staticmethod
    def report(output):
        """Of the line that FlinkMicro prints."""
        fields = output.splitlines()[-1].split("\t")
        return {"records": int(fields[2]), "seconds": float(fields[4]),
                "records_per_second": float(fields[5]), "hash": fields[6]}
