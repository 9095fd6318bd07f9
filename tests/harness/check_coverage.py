#!/usr/bin/env python3
"""Every operator of include/hummer/operators is run by the operator harness in some test.

    check_coverage.py ROOT

An operator is a class that derives from Operator or SourceOperator; it is covered when a
*_test.cpp makes one (`make_unique<Name`) and runs an OperatorHarness or SourceHarness. Prints the
operators that are not, and exits 1 if there are any.
"""

import re
import sys
from pathlib import Path

OPERATOR = re.compile(r"class\s+(\w+)\s+(?:final\s*)?:\s*public\s+(?:Source)?Operator\b")
MADE = re.compile(r"make_unique<\s*(?:hummer::)?(\w+)")
HARNESS = re.compile(r"\b(?:Operator|Source)Harness\b")


def main():
    root = Path(sys.argv[1])
    operators = {}
    for header in sorted((root / "include/hummer/operators").glob("*.hpp")):
        for name in OPERATOR.findall(header.read_text()):
            operators[name] = header.relative_to(root)
    if not operators:
        sys.exit("no operators found below include/hummer/operators")
    covered = set()
    for folder in ("src", "tests"):
        for test in (root / folder).rglob("*_test.cpp"):
            text = test.read_text()
            if HARNESS.search(text):
                covered.update(MADE.findall(text))
    missing = [name for name in operators if name not in covered]
    for name in missing:
        print(f"{operators[name]}: no harness test makes a {name}")
    print(f"{len(operators) - len(missing)} of {len(operators)} operators run under the harness")
    return 1 if missing else 0


sys.exit(main())
