"""Flink beside the rows of keyed state: FlinkStateful.java, compiled and run."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "peers"))
from compiled_flink import CompiledFlink, Missing  # noqa: E402, F401

SOURCE = pathlib.Path(__file__).with_name("FlinkStateful.java")
LIMIT_SECONDS = 300


class Flink(CompiledFlink):
    def __init__(self):
        super().__init__(SOURCE)

    def run(self, report, heap, parallelism=2):
        """The input of another program's report, with so much heap, such as 6g."""
        sizes = [report[name] for name in ("records", "keys", "records_per_window", "window_ms")]
        done = subprocess.run([*self.java(f"-Xmx{heap}", "-XX:+UseParallelGC"), report["row"],
                               *map(str, [parallelism, *sizes])],
                              capture_output=True, text=True, timeout=LIMIT_SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"Flink failed (exit code {done.returncode}):\n{done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])
