"""Runs bench/stateful/run for the items of this folder, and judges figures against bars."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench"))
import busy  # noqa: E402

SHORT = os.environ.get("HUMMER_SHORT", "0") != "0"


def build(*targets, at=ROOT, optional=()):
    """In the preset release of a source tree; `optional`: those that are known there."""
    if not (at / "build/release/build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=at, stdout=subprocess.DEVNULL, check=True)
    known = subprocess.run(["ninja", "-C", "build/release", "-t", "targets", "all"], cwd=at,
                           stdout=subprocess.PIPE, text=True, check=True).stdout
    targets += tuple(each for each in optional if f"\n{each}: phony" in known)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", *targets], cwd=at,
                   stdout=subprocess.DEVNULL, check=True)


def measured(*arguments):
    """The rows that `bench/stateful/run --json` gives, which checks all results; ends with its code
    when it fails. In the short form few records, whose speeds mean nothing."""
    build("stateful_hummer", "stateful_bare")
    words = ["--tiny"] if SHORT else list(arguments)
    done = subprocess.run([ROOT / "bench/stateful/run", "--json", *words], cwd=ROOT,
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"bench/stateful/run failed (exit code {done.returncode})")
        sys.exit(done.returncode)
    return json.loads(done.stdout)["rows"]


def refuse_busy():
    """Ends with 2 when others work on this machine, as bench/stateful/run does."""
    share = busy.share()
    if share > busy.IDLE_SHARE:
        print(f"others use {share:.0%} of this machine", file=sys.stderr)
        sys.exit(2)


class Bars:
    """Figures beside the least that they must be."""

    def __init__(self):
        self.held = self.missed = 0

    def judge(self, what, figure, least, form="{:.2f}"):
        self._note(figure >= least, f"{what}: {form.format(figure)}, at least {form.format(least)}")

    def judge_most(self, what, figure, most, form="{:.2f}"):
        self._note(figure <= most, f"{what}: {form.format(figure)}, at most {form.format(most)}")

    def _note(self, holds, text):
        self.held += holds
        self.missed += not holds
        print(f"{'held  ' if holds else 'MISSED'} {text}", flush=True)

    def end(self):
        """The item's last line, and its exit code."""
        if SHORT:
            print("short: results are equal, no speed is judged")
            sys.exit(0)
        print(f"{self.held} of {self.held + self.missed} bars hold")
        sys.exit(1 if self.missed else 0)
