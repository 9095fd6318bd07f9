"""What the peers' programs share: the arguments, the warm-up text and the JSON line of the result.

A peer splits at blanks and line ends only (not at every byte <= 0x20), which is the same on the
generated text and saves it a regular expression.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--out", required=True, help="file for the word<tab>count lines")
    return parser.parse_args()


def result_hash(lines):
    """Hash, number of lines and sum of counts, as bench/wordcount/result_hash.hpp defines them."""
    tool = pathlib.Path(
        os.environ.get("HUMMER_RESULT_HASH", ROOT / "build/release/bench/result_hash"))
    if tool.exists():
        return json.loads(subprocess.run([tool, lines], check=True, capture_output=True).stdout)
    total, words, distinct = 0, 0, 0
    with open(lines, "rb") as file:
        for line in file:
            value = 0xCBF29CE484222325
            line = line.rstrip(b"\n")
            for byte in line:
                value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
            total = (total + value) & 0xFFFFFFFFFFFFFFFF
            words += int(line.rpartition(b"\t")[2])
            distinct += 1
    return {"words": words, "distinct": distinct, "hash": f"{total:016x}"}


def join_parts(directory, out):
    """Makes one file of the part files that an engine wrote into a directory."""
    with open(out, "wb") as target:
        for part in sorted(pathlib.Path(directory).rglob("*")):
            hidden = any(p.startswith((".", "_")) and not p.startswith(".part")
                         for p in part.relative_to(directory).parts)
            if part.is_file() and not hidden and not part.name.endswith(".crc"):
                with open(part, "rb") as source:
                    shutil.copyfileobj(source, target, 1 << 20)


def measure(engine, version, job, args):
    """Runs job(file, out_directory) on the head of the text, then on all of it; prints the line."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(args.out))) as scratch:
        warm_up = os.path.join(scratch, "warm_up.txt")
        with open(args.file, "rb") as source, open(warm_up, "wb") as target:
            target.write(source.read(8 << 20).rpartition(b"\n")[0] + b"\n")
        job(warm_up, os.path.join(scratch, "warm_up"))
        begin = time.monotonic()
        job(args.file, os.path.join(scratch, "result"))
        seconds = time.monotonic() - begin
        join_parts(os.path.join(scratch, "result"), args.out)
    report(engine, version, seconds, args.out)


def report(engine, version, seconds, out):
    print(json.dumps({"engine": engine, "version": version, "seconds": round(seconds, 6),
                      **result_hash(out)}))
