"""Flink beside the engine's paths: FlinkMicro.java, compiled, and the commands to run it."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "peers"))
from compiled_flink import CompiledFlink, Missing  # noqa: E402, F401

SOURCE = pathlib.Path(__file__).with_name("FlinkMicro.java")
# As the defaults in kernels.hpp; if one differs, so do the hashes.
PARAMETERS = [0x5BD1E995, 12345, 0xA5A5A5A5]
# name: what carries a record, the JVM's collector. No one of them is the fastest on all machines.
FORMS = {"value": ("value", "-XX:+UseG1GC"),
         "value, parallel collector": ("value", "-XX:+UseParallelGC"),
         "long, parallel collector": ("long", "-XX:+UseParallelGC")}


class Flink(CompiledFlink):
    def __init__(self):
        super().__init__(SOURCE)

    def command(self, path, form, warm_up, records):
        carrier, collector = FORMS[form]
        timed = str(path.startswith("timed-")).lower()
        return [*self.java("-Xmx2g", collector), path.removeprefix("timed-"), carrier,
                *map(str, [warm_up, records, *PARAMETERS]), timed]

    @staticmethod
    def report(output):
        """Of the line that FlinkMicro prints."""
        fields = output.splitlines()[-1].split("\t")
        return {"records": int(fields[2]), "seconds": float(fields[4]),
                "records_per_second": float(fields[5]), "hash": fields[6]}
