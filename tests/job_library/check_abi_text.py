#!/usr/bin/env python3
"""The ABI text changes with the code of the public headers, and not with what no job's library has of it.

    check_abi_text.py CMAKE ROOT      ROOT: the repository
"""

import pathlib
import subprocess
import sys
import tempfile

HEADER = """// Point: two numbers.
#pragma once

struct Point {
  int x = 0;  // in metres
  const char* unit = "see // there";
};
"""
# What is done to the header, and whether the text is another one then.
EDITS = [
    ("a comment says more", ("two numbers", "two numbers in a plane"), False),
    ("a comment behind code goes", ("  // in metres", ""), False),
    ("a blank line goes", ("\n\nstruct", "\nstruct"), False),
    ("a line is indented further", ("  int x", "      int x"), False),
    ("a member's type changes", ("int x", "long x"), True),
    ("a member goes", ("  int x = 0;  // in metres\n", ""), True),
    ("a default changes", ("x = 0", "x = 1"), True),
    ("a literal with slashes changes", ("see // there", "see // here"), True),
]


def abi_text(cmake, root, folder):
    output = folder / "abi.hpp"
    subprocess.run([cmake, "-D", "VERSION=1", "-D", "COMPILER=gnu 12", "-D", "FLAGS=-O3", "-D", f"ROOT={folder}",
                    "-D", f"OUTPUT={output}", "-P", str(root / "cmake/write_abi.cmake")], check=True)
    return output.read_text()


def main():
    cmake, root = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        header = folder / "hummer/point.hpp"
        (folder / "hummer/testing").mkdir(parents=True)
        header.write_text(HEADER)
        before = abi_text(cmake, root, folder)
        for what, (old, new), changes in EDITS:
            assert old in HEADER, what
            header.write_text(HEADER.replace(old, new))
            if (abi_text(cmake, root, folder) != before) != changes:
                wrong.append(f"{what}: the text {'stays' if changes else 'changes'}")
        header.write_text(HEADER)
        (folder / "hummer/testing/harness.hpp").write_text("struct Harness {};\n")
        if abi_text(cmake, root, folder) != before:
            wrong.append("a header for tests comes: the text changes")
        (folder / "hummer/line.hpp").write_text("struct Line {};\n")
        if abi_text(cmake, root, folder) == before:
            wrong.append("a header comes: the text stays")
    print("\n".join(wrong) or f"{len(EDITS) + 2} edits: the ABI text changes where it has to")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
