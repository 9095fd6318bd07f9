#!/usr/bin/env python3
"""Mistakes of a job's author give one short error each, which says what to do.

    check_mistakes.py SCRATCH COMPILER ARGUMENT...
    check_mistakes.py --each SCRATCH COMPILER ARGUMENT...
    check_mistakes.py --page FILE [--write]

Each *.cpp beside this script is one mistake and, beside it, the right form:

    // mistake: what it is, as the page calls it
    // group: the page's section
    // error: what the error says, word for word
    // names: texts that the output names, such as the call and the type, between commas
    // measure: the compiler's own           (where no header of ours is asked first)
    #ifdef MISTAKE ... #else ... #endif

With MISTAKE defined the compiler must print, for each of them,
  - exactly one line with `error:`, and that has the text;
  - every text of `names`, anywhere;
  - at most MESSAGES_MAX lines that say something: those with `error:`, `note:` or `warning:`, not
    counting clang's notes "in instantiation of", which stand where GCC has `required from`;
  - at most LINES_MAX lines in all (`required from`, the line of code, its caret), not counting the
    way to a header (`In file included from`, `from`): compilers leave out what they have said.
`measure: the compiler's own` lifts the last two. Without MISTAKE, and with public_api.hpp beside,
nothing is printed, with -Wall -Wextra.

A compiler is run twice, with all mistakes and with all right forms, each in a namespace of one
source in SCRATCH, with -fsyntax-only and its own limits (of Clang but for the number of errors).
An error is that of the one file that its lines name; any other is a failure.

--each compiles every mistake by itself and prints, per line, its name, errors and lines in all.
--page compares FILE, docs/mistakes.md, with what these files say; --write writes it anew.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

MESSAGES_MAX = 3
LINES_MAX = {"gcc": 9, "clang": 12}  # clang prints code and caret for each step on the way
INCLUDED = re.compile(r"In file included from|\s+from \S+:\d+[:,]$")
CONTEXT = re.compile(r": In (instantiation|substitution|lambda|function|member function|constructor)")
ERROR = re.compile(r"\berror:")
MESSAGE = re.compile(r"\b(error|note|warning):")
HERE = Path(__file__).resolve().parent
GROUPS = ("Functions", "Keys and aggregates", "Process functions", "Records and state", "Windows",
          "Sources and sinks")


class Mistake:
    def __init__(self, path):
        self.path = path
        self.text = path.read_text()
        head = re.match(r"(// .*\n)+", self.text)
        lines = head.group(0).replace("\n//   ", " ") if head else ""
        self.says = dict(re.findall(r"^// (\w+): (.*)$", lines, re.MULTILINE))
        missing = [key for key in ("mistake", "group", "error") if key not in self.says]
        if missing or self.says["group"] not in GROUPS:
            sys.exit(f"{path}: begins with lines `// mistake:`, `// group:` (one of {GROUPS}) and "
                     "`// error:`")
        parts = re.search(r"^#ifdef MISTAKE\n(.*?)^#else\n(.*?)^#endif\n", self.text,
                          re.DOTALL | re.MULTILINE)
        if not parts:
            sys.exit(f"{path}: has no #ifdef MISTAKE … #else … #endif")
        self.wrong, self.right = parts.groups()
        self.names = [name.strip() for name in self.says.get("names", "").split(",") if name.strip()]


def is_clang(command):
    version = subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout
    return "clang" in version


class Outcome:
    """What a compiler says of one mistake."""

    def __init__(self, mistake, lines, lines_max):
        self.text = "\n".join(lines)
        self.lines = [line for line in lines if not INCLUDED.match(line)]
        self.errors = [line for line in lines if ERROR.search(line)]
        self.messages = [line for line in lines if MESSAGE.search(line)
                         and not re.search(r"note: in instantiation of|note: while ", line)]
        self.faults = []
        if len(self.errors) != 1:
            self.faults.append(f"{len(self.errors)} errors instead of one")
        if self.errors and mistake.says["error"] not in self.errors[0]:
            self.faults.append(f"the first error does not say \"{mistake.says['error']}\"")
        for name in mistake.names:
            if name not in self.text:
                self.faults.append(f"nothing names {name}")
        if "compiler's own" in mistake.says.get("measure", ""):
            return
        if len(self.messages) > MESSAGES_MAX:
            self.faults.append(f"{len(self.messages)} messages, at most {MESSAGES_MAX} are meant")
        if len(self.lines) > lines_max:
            self.faults.append(f"{len(self.lines)} lines, at most {lines_max} are meant")


def run_compiler(command, *arguments):
    run = subprocess.run([*command, "-fsyntax-only", *arguments], capture_output=True, text=True,
                         env={**os.environ, "LC_ALL": "C.UTF-8"})
    return [line for line in run.stderr.splitlines()
            if not re.fullmatch(r"\d+ errors? generated\.", line)]


def together(mistakes, scratch):
    """A source with all of them, each in a namespace."""
    source = scratch / "mistakes.cpp"
    # A template is specialised outside.
    source.write_text("#include <hummer/hummer.hpp>\n" + "".join(
        f'#include "{each.path}"\n' if "template <>" in each.text else
        f'namespace {each.path.stem} {{\n#include "{each.path}"\n}}\n' for each in mistakes))
    return str(source)


def blocks(lines):
    """One list of lines per error: what leads to it, itself, and its notes."""
    block, ahead = [], []  # ahead: of a message that has not come yet
    for line in lines:
        if not MESSAGE.search(line):
            leads = ahead or INCLUDED.match(line) or CONTEXT.search(line)
            (ahead if leads else block).append(line)
            continue
        if ERROR.search(line) and any(ERROR.search(before) for before in block):
            yield block
            block = []
        block += [*ahead, line]
        ahead = []
    yield [*block, *ahead]


def by_mistake(mistakes, lines):
    found = {each.path.stem: [] for each in mistakes}
    nobody = []
    for block in blocks(lines):
        text = "\n".join(block)
        names = [name for name in found if f"/{name}.cpp:" in text]
        (found[names[-1]] if len(names) == 1 else nobody).extend(block)
    return found, nobody


def check(scratch, command, each_alone):
    mistakes = [Mistake(path) for path in sorted(HERE.glob("*.cpp"))]
    scratch.mkdir(parents=True, exist_ok=True)
    lines_max = LINES_MAX["clang" if is_clang(command) else "gcc"]
    if is_clang(command):
        command = [*command, "-ferror-limit=0"]
    failures = []
    if each_alone:
        for each in mistakes:
            lines = run_compiler(command, "-DMISTAKE", str(each.path))
            messages = Outcome(each, lines, lines_max)
            print(f"{each.path.stem}\t{len(messages.errors)}\t{len(lines)}")
        return 0
    source = together(mistakes, scratch)
    found, nobody = by_mistake(mistakes, run_compiler(command, "-DMISTAKE", source))
    for each in mistakes:
        outcome = Outcome(each, found[each.path.stem], lines_max)
        if outcome.faults:
            failures.append(f"{each.path.name}: {'; '.join(outcome.faults)}:\n{outcome.text}")
    if nobody:
        failures.append("of no mistake alone:\n" + "\n".join(nobody))
    with open(source, "a") as right_source:
        right_source.write(f'#include "{HERE / "public_api.hpp"}"\n')
    right = run_compiler(command, "-Wall", "-Wextra", source)
    if right:
        failures.append("the right forms do not compile cleanly:\n" + "\n".join(right))
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(mistakes)} mistakes, {len(failures)} failures")
    return 1 if failures else 0


def page(mistakes):
    yield """# Mistakes that the compiler explains

Written by `tests/compile_fail/check_mistakes.py --page docs/mistakes.md --write` from the files of
that folder, each of which a test compiles with GCC and Clang: one error, its text word for word,
and the right form compiles.

The error's text names the call and the cure; which stream and which function are meant is in the
lines around it: `required from here` (GCC) and `requested here` (Clang) have the line of the job,
and `[with T = …; Function = …]` the types.
"""
    for group in GROUPS:
        yield f"## {group}\n"
        for each in mistakes:
            if each.says["group"] != group:
                continue
            yield f"### {each.says['mistake']}\n"
            yield f"```cpp\n{undented(each.wrong)}```\n"
            yield f"> {each.says['error']}\n".replace("<", "\\<")
            yield f"```cpp\n{undented(each.right)}```\n"


def undented(code):
    return re.sub(r"^  ", "", code, flags=re.MULTILINE) if code.startswith("  ") else code


def check_page(file, write):
    text = "\n".join(page([Mistake(path) for path in sorted(HERE.glob("*.cpp"))]))
    if write:
        file.write_text(text)
    elif not file.is_file() or file.read_text() != text:
        print(f"{file} is not what tests/compile_fail says: write it anew with --write")
        return 1
    return 0


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    if arguments[0] == "--page":
        return check_page(Path(arguments[1]), "--write" in arguments)
    each_alone = arguments[0] == "--each"
    return check(Path(arguments[each_alone]), arguments[each_alone + 1:], each_alone)


if __name__ == "__main__":
    sys.exit(main())
