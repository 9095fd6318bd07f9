#!/usr/bin/env python3
"""Tests of scripts/wrap-documents and bench/measurements.py."""

import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench"))
import measurements  # noqa: E402


def script(path):
    loader = importlib.machinery.SourceFileLoader(path.name.replace("-", "_"), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


wrap = script(ROOT / "scripts/wrap-documents")
WORDS = " ".join(f"word{n}" for n in range(40))


class Wrap(unittest.TestCase):
    def wrapped(self, text):
        once, _ = wrap.rewrap(text)
        twice, too_long = wrap.rewrap(once)
        self.assertEqual(once, twice)
        self.assertEqual(too_long, [])
        self.assertEqual(text.split(), once.split())
        return once

    def test_prose_and_items_are_wrapped(self):
        lines = self.wrapped(f"# Title\n\n{WORDS}\n\n- {WORDS}\n10. {WORDS}\n").split("\n")
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertTrue(any(line.startswith("  word") for line in lines))
        self.assertTrue(any(line.startswith("    word") for line in lines))

    def test_what_is_no_prose_is_left_alone(self):
        for text in (f"```\n{WORDS}\n```\n", f"text\n\n    {WORDS}\n    {WORDS}\n", f"| {WORDS} |\n",
                     f"## {WORDS}\n", f"<!-- {WORDS}\n{WORDS} -->\n", "short\nlines stay\n"):
            self.assertEqual(self.wrapped(text), text)

    def test_no_line_begins_with_what_would_be_markup(self):
        for mark in ("-", "+", "*", "1.", "#"):
            text = " ".join(["word", mark] * 60) + "\n"
            for line in self.wrapped(text).split("\n")[1:]:
                self.assertFalse(line.startswith(mark + " "), line)

    def test_code_and_link_targets_are_not_broken(self):
        code = "`hummer submit LIBRARY --detached`"
        text = " ".join([f"{code} and [a link](docs/some/{n}/page.md)" for n in range(20)])
        self.assertEqual(sum(line.count(code) for line in self.wrapped(text).split("\n")), 20)

    def test_run_in_headings_begin_a_line(self):
        self.assertIn("\n**What to do.** Nothing.", self.wrapped(f"**Cause.** {WORDS}\n**What to do.** Nothing.\n"))


class Measurements(unittest.TestCase):
    def test_a_claim_agrees_to_its_digits_and_within_its_spread(self):
        for claim, printed in (("1.69 G records/s", "1692.3 M records/s"), ("85 %", "85 %"),
                               ("78 to 90 %", "81.3 %"), ("3 ms (up to 10 from run to run)", "9.61 ms"),
                               ("119 % (45 to 130 % from run to run)", "46 %"), ("cost 0 to 3 %", "cost +0.31 %"),
                               ("510,000 lines exactly right", "510000 lines exactly right"), ("50×", "49.7×")):
            self.assertTrue(measurements.agrees(claim, printed), (claim, printed))
        for claim, printed in (("1.69 G records/s", "1699.3 M records/s"), ("85 %", "84 %"),
                               ("78 to 90 %", "77.1 %"), ("0.87 s", "0.88 s"), ("nothing measurable", "cost +1.0 %")):
            self.assertFalse(measurements.agrees(claim, printed), (claim, printed))

    def test_figures_are_found_in_logs(self):
        row = "chain                  1692.3 M/s     2015.0 M/s    84%   80%.. 90%      70%  holds  1f 0.5\n"
        lines, values = measurements.find_in_log("chain", "run 1/5  chain  hummer 1.0 s\n" + row)
        self.assertEqual(lines, [row.strip()])
        self.assertEqual(values["hummer"], "1692.3 M records/s")
        self.assertEqual(values["ratio"], "84 %")
        self.assertIsNone(measurements.find_in_log("chain", row + "skipped in the short form\n"))
        self.assertIsNone(measurements.find_in_log("tcp", row))

    def test_every_pattern_is_of_a_figure_in_the_record(self):
        self.assertLessEqual(set(measurements.PATTERNS), {each["id"] for each in measurements.load()})

    def test_tables_are_written_between_the_marks(self):
        figures = measurements.load()
        path = ROOT / "README.md"
        text = "before\n<!-- figures: chain -->\nold\n<!-- end of figures -->\nbehind\n"
        new = measurements.with_tables(path, text, figures)
        self.assertTrue(new.startswith("before\n<!-- figures: chain -->\n| what |"), new)
        self.assertTrue(new.endswith("|\n<!-- end of figures -->\nbehind\n"), new)
        self.assertNotIn("old", new)
        self.assertEqual(new, measurements.with_tables(path, new, figures))


if __name__ == "__main__":
    unittest.main()
