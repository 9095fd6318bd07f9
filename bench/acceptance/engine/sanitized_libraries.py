#!/usr/bin/env python3
"""Job libraries of a sanitizer's preset, loaded by its `hummer`: nothing is found.

    sanitized_libraries.py PRESET      asan or tsan

wordcount.job.so by `hummer run`, and on a cluster of two TaskManagers, both compared with coreutils.
There too live_words.job.so with checkpoints, its savepoint, and live_words_2.job.so from that: two
versions in one process. All processes end by SIGTERM, so that leaks are looked for as well.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))
from cluster import ROOT, Cluster, Failed, Item, sorted_result  # noqa: E402

TEXT = pathlib.Path("/usr/share/common-licenses")
LIBRARIES = ("wordcount", "live_words", "live_words_2")
# Of ctest's presets.
OPTIONS = {preset["name"]: preset.get("environment")
           for preset in json.loads((ROOT / "CMakePresets.json").read_text())["testPresets"]}
INSTRUMENTED = {"asan": "__asan_report_", "tsan": "__tsan_read"}
FINDING = re.compile(r"(ERROR: AddressSanitizer|ERROR: LeakSanitizer|WARNING: ThreadSanitizer"
                     r"|FATAL: ThreadSanitizer|runtime error: ).*")


def build(preset):
    for command in (["cmake", "--preset", preset],
                    ["cmake", "--build", "--preset", preset, "--target", "hummer",
                     *(f"{name}_library" for name in LIBRARIES)]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def counts_by_coreutils(into):
    """word<tab>count of the same files: those that from_file reads, links among them followed."""
    count = (f"find -L '{TEXT}' -type f -not -name '.*' -exec cat {{}} + | tr -s '\\000-\\040' '\\n' |"
             " grep -av '^$' | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)/\\2\\t\\1/' | sort")
    into.write_bytes(subprocess.run(["bash", "-c", count], check=True, stdout=subprocess.PIPE,
                                    env={**os.environ, "LC_ALL": "C"}).stdout)
    return into


def wait_until(holds, what, seconds=120):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise Failed(f"{what} after {seconds} s")
        time.sleep(0.2)


def one_after_the_other(cluster, item, libraries, folder):
    """Version 1, a savepoint, version 2 from it; both in the same TaskManagers."""
    text = folder / "text"
    text.write_text("to be or not to be that is the question\n" * 20)
    arguments = ("--input", text, "--rate", "2000", "--output", folder / "live",
                 "--checkpoint-interval-ms", "200", "--checkpoint-dir", folder / "checkpoints")
    first = cluster.submit_detached(libraries["live_words"], *arguments)
    wait_until(lambda: cluster.status(first).get("checkpoints_completed", 0) >= 2,
               "no two checkpoints")
    savepoint = cluster.run("stop", first, "--savepoint", folder / "savepoints").strip()
    cluster.wait_for_state(first, "finished", 120)
    second = cluster.submit_detached(libraries["live_words_2"], *arguments, "--restore", savepoint)
    wait_until(lambda: cluster.status(second).get("checkpoints_completed", 0) >= 2,
               "no two checkpoints of the second version")
    cluster.run("cancel", second)
    cluster.wait_for_state(second, "cancelled", 120)
    item.say("live_words stopped with a savepoint, live_words_2 went on from it, cancelled")


def main():
    preset = sys.argv[1]
    build(preset)
    folder = ROOT / "build" / preset
    libraries = {name: folder / "examples" / f"{name}.job.so" for name in LIBRARIES}
    os.environ.update(OPTIONS[preset])
    with Item() as item:
        for library in libraries.values():
            symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True).stdout
            item.expect(INSTRUMENTED[preset] in symbols, f"{library.name} has no sanitizer in it")
        expected = counts_by_coreutils(item.folder / "expected")
        ended = 0
        with Cluster(item, folder / "hummer") as cluster:
            def count_words(how, *options):
                output = item.folder / how
                cluster.run(*options, libraries["wordcount"], "--input", TEXT, "--output", output,
                            "--parallelism", "2")
                item.expect(not FINDING.search(cluster.message), f"{how}: {cluster.message[-3000:]}")
                result = sorted_result(output, item.folder / f"{how}.sorted")
                item.expect(result.read_bytes() == expected.read_bytes(),
                            f"{how}: other counts than coreutils'")

            count_words("run", "run")
            cluster.start_job_manager("--state-dir", item.folder / "state")
            cluster.start_task_managers(2, slots=2)
            count_words("submit", "submit")
            one_after_the_other(cluster, item, libraries, item.folder)
            for process in (*cluster.task_managers.values(), cluster.job_manager):
                code = process.end()
                item.expect(code == 0, f"{process.name} ended with {code}")
                if found := FINDING.search(process.text()):
                    item.problem(f"{process.name}: {process.text()[found.start():][:3000]}")
                ended += 1
        item.figure = (f"{preset}: {len(libraries)} job libraries, by run and by submit, {ended} processes"
                       " of a cluster: nothing found")


main()
