#!/usr/bin/env python3
"""Every operator and source of the engine is run by the operator harness in some test.

    check_coverage.py ROOT

Which there are is read from the code: each class below include/hummer and src, tests apart, that
derives from Operator or SourceOperator, also through a class between. One is covered when a single
test of a *_test.cpp, with what it calls in that file and in headers beside it, makes one and
runs an OperatorHarness, TwoInputHarness or SourceHarness. It makes one by `make_unique<Name`, or by
a function of the engine, such as make_file_source, in whose file that stands.

Prints those that are not covered, and exits 1 if there are any.
"""

import re
import sys
from pathlib import Path

CLASS = re.compile(r"\b(?:class|struct)\s+(\w+)\s*(?:final\s*)?:\s*([^{;]+)\{")
MADE = re.compile(r"make_unique<\s*(?:\w+::)*(\w+)")
HARNESS = re.compile(r"\b(?:Operator|TwoInput|Source)Harness\b")
OF_A_TEST = re.compile(r"_(test|bench|fuzz)\.cpp$|_test(_\w+)?\.hpp$")
OPENS_TEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_[FP])?\s*\(")
NAME = re.compile(r"\w+")
ROOTS = {"Operator", "SourceOperator"}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def bases_in(text):
    """The classes of a text, each with the names of those that it derives from."""
    for name, bases in CLASS.findall(text):
        bare = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", bases))
        yield name, {base.split()[-1].split("::")[-1] for base in bare.split(",") if base.strip()}


def operators_of(root):
    """The operators that exist: name -> file. A class that others derive from is none."""
    classes = {}
    for folder in ("include/hummer", "src"):
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            if not OF_A_TEST.search(path.name):
                for name, bases in bases_in(without_comments(path.read_text())):
                    classes[name] = (bases, path.relative_to(root))
    operators = set(ROOTS)
    while grown := {name for name, (bases, _) in classes.items() if bases & operators} - operators:
        operators |= grown
    bases = set().union(*(classes[name][0] for name in operators - ROOTS if name in classes))
    return {name: classes[name][1] for name in sorted(operators - ROOTS - bases)}


def declarations(text):
    """The text in pieces: each outermost declaration, but namespaces, from its begin to its end."""
    text = re.sub(r"^\s*#.*$", "", without_comments(text), flags=re.MULTILINE)
    text = re.sub(r'"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])\'', '""', text)
    text = re.sub(r"\bnamespace(\s+[\w:]+)*\s*\{", ";", text)
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        if letter == "{":
            depth += 1
        elif letter == "}":
            depth = max(depth - 1, 0)
        if depth == 0 and letter in ";}":
            yield text[begin:at + 1]
            begin = at + 1


def names_declared(piece):
    """What the rest of the file may call it by."""
    head = re.split(r"[{;]", piece, maxsplit=1)[0]
    return set(re.findall(r"\w+(?=\s*(?:\(|=|$))|(?<=class )\w+|(?<=struct )\w+", head))


def makers_of(root, operators):
    """Functions of the engine that make operators: name -> operators, by the file they stand in."""
    makers = {}
    for path in sorted((root / "src").rglob("*.cpp")):
        if OF_A_TEST.search(path.name):
            continue
        text = without_comments(path.read_text())
        made = set(MADE.findall(text)) & operators.keys()
        for name in re.findall(r"\b(make_\w+)\s*\([^;{]*\)\s*\{", text) if made else []:
            makers.setdefault(name, set()).update(made)
    return makers


def covered_by(test, operators, makers):
    text = test.read_text()
    if not HARNESS.search(text):
        return set()
    for header in re.findall(r'#include "([^"]+)"', text):
        beside = test.parent / Path(header).name
        if beside.is_file():
            text += beside.read_text()
    pieces = list(declarations(text))
    callees = {}
    for index, piece in enumerate(pieces):
        if not OPENS_TEST.match(piece):
            for name in names_declared(piece):
                callees.setdefault(name, set()).add(index)
    covered = set()
    for index, piece in enumerate(pieces):
        if not OPENS_TEST.match(piece):
            continue
        reached, waiting = set(), [index]
        while waiting:
            at = waiting.pop()
            if at not in reached:
                reached.add(at)
                for name in set(NAME.findall(pieces[at])):
                    waiting.extend(callees.get(name, ()))
        whole = "\n".join(pieces[at] for at in reached)
        if HARNESS.search(whole):
            covered |= set(MADE.findall(whole)) & operators.keys()
            for name in set(NAME.findall(whole)) & makers.keys():
                covered |= makers[name]
    return covered


def main():
    root = Path(sys.argv[1])
    operators = operators_of(root)
    if not operators:
        sys.exit("no operators found below include/hummer and src")
    makers = makers_of(root, operators)
    covered = set()
    for folder in ("src", "tests"):
        for test in (root / folder).rglob("*_test.cpp"):
            covered |= covered_by(test, operators, makers)
    missing = [name for name in operators if name not in covered]
    for name in missing:
        print(f"{operators[name]}: no harness test makes a {name}")
    print(f"{len(operators) - len(missing)} of {len(operators)} operators and sources run under"
          " the harness")
    return 1 if missing else 0


sys.exit(main())
