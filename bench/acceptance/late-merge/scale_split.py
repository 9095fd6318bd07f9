"""What the processes of a job spend their processor time on, from sampled stacks (perf record).

    with Samples(pids, folder) as samples:
        ...                               # the job runs
    shares = samples.shares()             # of all samples: {"scan": 0.5, "flush": 0.1, ...}

    scan       rows are made and folded, or, without a partial half, only made
    flush      parts are read out of their tables and dealt out by key, or records are
    merge      they are folded at the owner of their key; windows go out, to the sinks
    exchange   all else: channels, rings, watermarks, waiting and waking, with the kernel's part

A sample belongs to the innermost frame of its stack that one of the first three names; so memory that
the kernel hands out belongs to who has asked for it.
"""

import re
import shutil
import signal
import subprocess
import time

PARTS = ("scan", "flush", "merge", "exchange")
FREQUENCY = 499
# Until perf has all threads of the processes.
ATTACH_SECONDS = 0.5
# By the names of functions without the arguments of templates.
RULES = [
    ("merge", re.compile(r"\b(SliceWindow\w*|SinkFunction\w*|ForEachSink\w*)::")),
    ("flush", re.compile(r"\b(PartialWindowOperator::(emit|watermark|idle|flush|end)|HashPartitioner::)")),
    ("scan", re.compile(r"\b(GeneratorSource|PartialWindowOperator|LateRecordsOperator|FilterOperator|"
                        r"MapOperator)\w*::")),
]


def missing():
    """Why no stacks can be sampled here, or None."""
    if not shutil.which("perf"):
        return "there is no command perf here"
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-g", "-o", "/dev/null", "true"],
                          capture_output=True, text=True)
    return None if done.returncode == 0 else f"perf can't sample: {done.stderr.strip()[-200:]}"


def without_arguments(symbol):
    """The name of a function without what is in angle brackets and parentheses."""
    kept, depth = [], 0
    for letter in re.sub(r"operator(<<|>>|->|<=>|[<>]=?)", "operator", symbol):
        depth += letter in "<("
        if depth == 0:
            kept.append(letter)
        depth -= letter in ">)"
    return "".join(kept)


class Samples:
    def __init__(self, pids, folder):
        self.file = folder / "perf.data"
        self.command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "-g",
                        "-o", str(self.file), "-p", ",".join(map(str, pids))]

    def __enter__(self):
        self.perf = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *self.command],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(ATTACH_SECONDS)
        return self

    def __exit__(self, *_):
        self.perf.send_signal(signal.SIGINT)
        self.perf.wait(30)
        return False

    def shares(self):
        done = subprocess.run(["perf", "script", "-i", str(self.file), "-F", "ip,sym", "--no-inline"],
                              capture_output=True, text=True, errors="replace", check=True)
        known, counts = {}, dict.fromkeys(PARTS, 0)
        for stack in done.stdout.split("\n\n"):
            frames = [line.split(None, 1)[1] for line in stack.splitlines() if len(line.split(None, 1)) == 2]
            if not frames:
                continue
            for frame in frames:
                if frame not in known:
                    name = without_arguments(frame)
                    known[frame] = next((part for part, rule in RULES if rule.search(name)), None)
            counts[next(filter(None, map(known.get, frames)), "exchange")] += 1
        self.file.unlink()
        total = max(sum(counts.values()), 1)
        return {part: count / total for part, count in counts.items()}
