"""Flink beside the windowed count: FlinkWindows.java, compiled and run."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "peers"))
from compiled_flink import CompiledFlink, Missing  # noqa: E402, F401

SOURCE = pathlib.Path(__file__).with_name("FlinkWindows.java")
LIMIT_SECONDS = 240


class Flink(CompiledFlink):
    def __init__(self):
        super().__init__(SOURCE)

    def run(self, records, keys, records_per_ms, size_ms):
        done = subprocess.run([*self.java("-Xmx6g", "-XX:+UseParallelGC"),
                               *map(str, [records, keys, records_per_ms, size_ms])],
                              capture_output=True, text=True, timeout=LIMIT_SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"Flink failed (exit code {done.returncode}):\n{done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])
