"""Plants operators without a harness test in a small tree and expects check_coverage.py to name them."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("check_coverage.py")

TEST = """
#include "operators/parts.hpp"
namespace hummer { namespace {
auto factory() { return make_operator_factory([] { return std::make_unique<MapOperator>(); }); }
TEST(Map, Doubles) { OperatorHarness<int> harness(factory()); }
TEST(Lines, AreCounted) { SourceHarness harness(make_lines_source("/in")); }
TEST(Other, IsMadeAlone) { auto other = std::make_unique<Spare>(); }
} }
"""


class Coverage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.write("include/hummer/detail/operators/map.hpp",
                   "template <typename F>\nclass MapOperator final : public Operator {\n};\n")
        self.write("include/hummer/operator.hpp",
                   "class Operator {};\nclass SourceOperator : public Operator {};\n"
                   "// class Written : public Operator {\n")
        self.write("src/connectors/lines/lines_source.hpp",
                   "class LinesSource final : public SourceOperator, public Relay<int, int> {};\n")
        self.write("src/connectors/lines/lines_source.cpp",
                   "Factory make_lines_source(std::string path) {\n"
                   "  return [] { return std::make_unique<LinesSource>(); };\n}\n")
        self.write("src/operators/map_test.cpp", TEST)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run_check(self):
        done = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()

    def expect(self, path, name):
        code, lines = self.run_check()
        self.assertEqual(code, 1, lines)
        self.assertEqual(lines[0], f"{path}: no harness test makes a {name}")
        self.assertEqual(len(lines), 2, lines)  # this one, and the sum

    def test_a_tree_in_order_passes(self):
        self.assertEqual(self.run_check(),
                         (0, ["2 of 2 operators and sources run under the harness"]))

    def test_a_new_operator(self):
        self.write("include/hummer/detail/operators/spare.hpp", "class Spare final : public Operator {\n};\n")
        self.expect("include/hummer/detail/operators/spare.hpp", "Spare")  # a test makes it, alone

    def test_a_new_source_of_a_connector(self):
        self.write("src/connectors/queue/queue_source.hpp",
                   "class QueueSource : public hummer::SourceOperator {};\n")
        self.expect("src/connectors/queue/queue_source.hpp", "QueueSource")

    def test_one_behind_a_class_between(self):
        self.write("src/connectors/queue/queue_source.cpp",
                   "template <typename T>\nstruct Polled : SourceOperator {};\n"
                   "struct Queue : private Other, Polled<std::pair<int, T>> {};\n")
        self.expect("src/connectors/queue/queue_source.cpp", "Queue")

    def test_one_of_a_test_needs_none(self):
        self.write("src/operators/spare_test.cpp", "class Spare final : public Operator {};\n")
        self.assertEqual(self.run_check()[0], 0)


if __name__ == "__main__":
    unittest.main()
