"""WordCount in Flink: compiles FlinkWordcount.java against the jars of apache-flink-libraries,
runs the DataStream job and the SQL job in JVMs of their own, and reports the faster. See peer.py.

With --only stream|sql just one of them runs.
"""

import glob
import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peer

SOURCE = pathlib.Path(__file__).with_name("FlinkWordcount.java")
CLASSES = peer.ROOT / "build/bench-data/flink-classes"


def class_path():
    package = importlib.util.find_spec("pyflink")
    if package is None:
        sys.exit("flink_wordcount: no Flink in this Python; run bench/peers/install flink")
    home = list(package.submodule_search_locations)[0]
    return ":".join(sorted(glob.glob(f"{home}/lib/*.jar")))


def compile_job(jars):
    target = CLASSES / "FlinkWordcount.class"
    if not target.exists() or target.stat().st_mtime < SOURCE.stat().st_mtime:
        CLASSES.mkdir(parents=True, exist_ok=True)
        subprocess.run(["javac", "-nowarn", "-cp", jars, "-d", str(CLASSES), str(SOURCE)],
                       check=True)


def run_job(mode, jars, args, scratch):
    warm_up = os.path.join(scratch, "warm_up.txt")
    with open(args.file, "rb") as source, open(warm_up, "wb") as target:
        target.write(source.read(8 << 20).rpartition(b"\n")[0] + b"\n")
    opens = [f"--add-opens=java.base/{name}=ALL-UNNAMED"
             for name in ("java.lang", "java.util", "java.nio", "java.net", "java.time")]
    out = os.path.join(scratch, f"result_{mode}")
    done = subprocess.run(
        ["java", "-Xmx4g", *opens, "-Dlog4j2.level=ERROR", "-cp", f"{jars}:{CLASSES}",
         "FlinkWordcount", mode, str(args.parallelism), warm_up,
         os.path.join(scratch, f"warm_up_{mode}"), os.path.abspath(args.file), out],
        stdout=subprocess.PIPE, check=True, text=True)
    return float(done.stdout.strip().splitlines()[-1]), out


def main():
    only = None
    if "--only" in sys.argv:
        at = sys.argv.index("--only")
        only = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    args = peer.arguments()
    jars = class_path()
    compile_job(jars)
    version = importlib.metadata.version("apache-flink-libraries")
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(args.out))) as scratch:
        results = []
        for mode in [only] if only else ["stream", "sql"]:
            seconds, out = run_job(mode, jars, args, scratch)
            print(f"flink_wordcount: {mode} {seconds:.3f} s", file=sys.stderr)
            results.append((seconds, mode, out))
        seconds, mode, out = min(results)
        peer.join_parts(out, args.out)
    peer.report("flink", f"{version} {mode}", seconds, args.out)


main()
