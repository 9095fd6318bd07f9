"""Plants each kind of mistake in a small tree and expects scripts/check-layering to name it."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "check-layering"

MODULES = """
hummer_module(base LINK fmt::fmt)
hummer_module(platform USES base LINK Threads::Threads)
# hummer_module(ghost)
hummer_module(runtime USES platform)
hummer_module(net
  USES runtime)
hummer_module(graph USES base TESTS_USE runtime)
"""


class Layering(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.write("CMakeLists.txt", MODULES)
        self.write("src/base/ids.hpp", "#include <cstdint>\n#include <hummer/status.hpp>\n")
        self.write("src/platform/linux.cpp", '#include <sys/mman.h>\n#include "base/ids.hpp"\n')
        self.write("src/net/tcp.cpp", '#include "runtime/ring.hpp"\n#include "base/ids.hpp"\n')
        self.write("src/runtime/ring_test.cpp", "#include <thread>\n")
        self.write("include/hummer/batch.hpp", "#include <boost/pfr/core.hpp>\n#include <span>\n")
        self.write("examples/wordcount.cpp", "#include <hummer/batch.hpp>\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run_check(self):
        done = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True)
        return done.returncode, done.stderr

    def expect(self, path, text, message):
        self.write(path, text)
        code, errors = self.run_check()
        self.assertEqual(code, 1, errors)
        self.assertIn(message, errors)
        self.assertEqual(errors.count("\n"), 2, errors)  # this one violation, and the sum

    def test_a_tree_in_order_passes(self):
        self.assertEqual(self.run_check(), (0, ""))

    def test_what_only_tests_may_use(self):
        self.write("src/graph/a_test.cpp", '#include "runtime/ring.hpp"\n#include "platform/a.hpp"\n')
        self.assertEqual(self.run_check(), (0, ""))
        self.expect("src/graph/a.cpp", '#include "runtime/ring.hpp"\n', "graph may not use runtime")

    def test_three_files_in_a_circle(self):
        self.write("src/base/a.hpp", '#include "base/b.hpp"\n')
        self.write("src/base/b.hpp", '#include "base/a.hpp"\n')
        self.assertEqual(self.run_check(), (0, ""))  # two may
        self.write("src/base/b.hpp", '#include "base/c.hpp"\n')
        self.expect("src/base/c.hpp", '#include "base/a.hpp"\n',
                    "a.hpp, b.hpp, c.hpp include each other in a circle")

    def test_options_read_while_the_graph_is_described(self):
        self.expect("include/hummer/a.hpp",
                    "// env.options().parallelism = 2;\nif (env_->options().parallelism) ;\n",
                    "include/hummer/a.hpp:2: reads the options while the graph is described")
        self.expect("include/hummer/a.hpp", "stream_.environment().options();\n",
                    "include/hummer/a.hpp:1: reads the options")

    def test_a_room_above(self):
        self.expect("src/base/a.cpp", '#include "net/transport.hpp"\n',
                    "src/base/a.cpp:1: \"net/transport.hpp\": base may not use net")

    def test_a_room_beside(self):
        self.expect("src/graph/a.cpp", '\n#include "platform/executor.hpp"\n', "a.cpp:2: ")

    def test_tests_obey_the_order_too(self):
        self.expect("src/base/a_test.cpp", '#include "net/transport.hpp"\n', "may not use net")

    def test_climbing(self):
        self.expect("src/net/a.cpp", '#include "../base/ids.hpp"\n', "climbs")

    def test_without_a_room(self):
        self.expect("src/base/a.cpp", '#include "ids.hpp"\n', "does not begin with a module")

    def test_public_header_in_quotes(self):
        self.expect("src/base/a.cpp", '#include "hummer/status.hpp"\n', "write <hummer/status.hpp>")

    def test_clock_above_the_platform(self):
        self.expect("src/graph/a.cpp", "#  include  <chrono>\n", "<chrono> above src/platform")

    def test_system_header_above_the_platform(self):
        self.expect("src/net/a.cpp", "#include <sys/socket.h>\n", "above src/platform")

    def test_system_header_below_the_platform(self):
        self.expect("src/base/a.cpp", "#include <unistd.h>\n", "above src/platform")

    def test_asio_above_the_platform(self):
        self.expect("src/net/a.hpp", "#include <boost/asio/io_context.hpp>\n", "above src/platform")

    def test_public_api_includes_a_room(self):
        self.expect("include/hummer/a.hpp", '#include "base/ids.hpp"\n', "in the public API")

    def test_public_api_includes_a_library(self):
        self.expect("include/hummer/a.hpp", "#include <fmt/format.h>\n", "in the public API")

    def test_public_api_reads_a_clock(self):
        self.expect("include/hummer/a.hpp", "#include <chrono>\n", "above src/platform")

    def test_example_includes_a_room(self):
        self.expect("examples/a.cpp", '#include "api/stream.hpp"\n', "in an example")

    def test_a_component_beside_the_engine(self):
        self.write("formats/src/words.hpp", "#include <simdjson.h>\n")
        self.write("formats/src/a.cpp", '#include <hummer/batch.hpp>\n#include "words.hpp"\n')
        self.write("formats/src/a_test.cpp", '#include "support/drawn.hpp"\n#include "base/ids.hpp"\n'
                   "#include <other_client.h>\n#include <chrono>\n")
        self.write("formats/src/words_for_test.hpp", '#include "platform/simulation.hpp"\n')
        self.write("connectors/kafka/src/client.hpp", "#include <librdkafka/rdkafka.h>\n#include <thread>\n")
        self.write("connectors/kafka/testing/server.cpp", '#include "src/client.hpp"\n#include "base/ids.hpp"\n')
        self.write("connectors/kafka/include/hummer/kafka/a.hpp", "#include <hummer/batch.hpp>\n#include <map>\n")
        self.assertEqual(self.run_check(), (0, ""))

    def test_a_component_uses_a_library_that_is_another_ones(self):
        self.expect("formats/src/a.cpp", "#include <librdkafka/rdkafka.h>\n",
                    "of no library that formats may use")
        (self.root / "formats/src/a.cpp").unlink()
        self.expect("connectors/queue/src/a.cpp", "#include <queue_client.h>\n",
                    "of no library that connectors/queue may use")

    def test_a_component_reads_a_clock(self):
        self.expect("formats/src/a.cpp", "#include <chrono>\n", "<chrono> above src/platform")

    def test_a_component_shows_a_library_in_its_headers(self):
        self.expect("connectors/kafka/include/hummer/kafka/a.hpp", "#include <librdkafka/rdkafka.h>\n",
                    "in the public API")

    def test_a_component_includes_a_module(self):
        for path in ("connectors/kafka/src/a.cpp", "formats/src/a.cpp"):
            self.expect(path, '#include "base/ids.hpp"\n', "is the engine's")
            (self.root / path).unlink()

    def test_a_component_reaches_into_the_engine(self):
        self.expect("formats/src/a.cpp", "#include <hummer/detail/connector_context.hpp>\n",
                    "for the engine's own connectors")

    def test_a_component_includes_another(self):
        self.write("connectors/queue/src/b.hpp", "")
        self.expect("formats/src/a.cpp", '#include "b.hpp"\n', '"b.hpp" is no file of formats')

    def test_an_include_in_a_function(self):
        self.write("src/base/a.hpp", "namespace hummer {\n}  // namespace hummer\n#include <map>\n")
        self.assertEqual(self.run_check(), (0, ""))
        self.expect("src/base/a.hpp", "namespace hummer {\nnamespace {\n}  // namespace\nvoid f() {\n"
                    "#include <map>\n}\n}  // namespace hummer\n", "outside of namespaces")

    def test_a_long_file(self):
        self.expect("src/base/a.cpp", "// x\n" * 601, "601 lines")

    def test_a_drawer(self):
        self.expect("src/base/string_utils.hpp", "", "no file is called utils")

    def test_the_word_helper_is_no_drawer(self):
        self.write("src/net/helper.hpp", "")
        self.assertEqual(self.run_check(), (0, ""))

    def test_a_folder_without_a_room(self):
        self.expect("src/ghost/a.cpp", "", "without a hummer_module line")

    def test_another_suffix(self):
        self.expect("src/base/a.h", "", "not .h")


if __name__ == "__main__":
    unittest.main()
