#!/usr/bin/env python3
"""A mistake of a job's author gives a readable error, and it comes first.

    check_first_error.py SOURCE COMPILER ARGUMENT...

Compiles SOURCE for its errors only. Its first line is `// error: TEXT`; the compiler's first
error must contain that text and stand alone: no error may come before it.
"""

import subprocess
import sys
from pathlib import Path

source, *command = sys.argv[1:]
head = Path(source).read_text().splitlines()[0]
mark = "// error: "
if not head.startswith(mark):
    sys.exit(f"{source}: its first line must be `{mark}TEXT`")
expected = head[len(mark):]
run = subprocess.run([*command, "-fsyntax-only", source], capture_output=True, text=True)
errors = [line for line in run.stderr.splitlines() if "error:" in line]
if run.returncode == 0 or not errors:
    sys.exit(f"{source} compiles, or fails without an error:\n{run.stderr}")
print(errors[0])
if expected not in errors[0]:
    sys.exit(f"the first of {len(errors)} errors does not say '{expected}'")
