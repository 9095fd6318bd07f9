"""Runs in gdb for 04-ways: prints each call by which what is followed goes from one function to the next.

    FOLLOW='{...}' gdb -batch -nx -x follow_calls.py --args PROGRAM ARGUMENT...

FOLLOW is JSON:

  types        of arguments in which it may be (names without namespace)
  parameters   names of whole numbers that may be it
  functions    regular expression of further functions, in any argument of which it may be
  starts       regular expression of those with which it begins: they need no such argument
  mark         what it is: a whole number (parameters, and members of that name or of `members`), or a
               word (a batch that holds records, a text that holds the word)
  members      see mark
  last         regular expression: the first such call ends the program

For each first call of a function in src/, include/ and examples/ one line: CALL FILE FUNCTION.
Needs a program with -g and without optimisation.
"""

import json
import os
import re

import gdb

RULE = json.loads(os.environ["FOLLOW"])
MARK = RULE["mark"]
TYPES = set(RULE["types"])
NUMBERS = set(RULE.get("parameters", ()))
MEMBERS = NUMBERS | set(RULE.get("members", ()))
NOTHING = "(?!)"
FUNCTIONS = re.compile(RULE.get("functions", NOTHING))
STARTS = re.compile(RULE.get("starts", NOTHING))
INDIRECT = (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)
STRUCTS = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)


def short_name(type_):
    return re.sub(r"<.*", "", type_.strip_typedefs().unqualified().name or "").rsplit("::", 1)[-1]


def target(type_):
    type_ = type_.strip_typedefs()
    while type_.code in INDIRECT:
        type_ = type_.target().strip_typedefs()
    return type_


def elements(type_):
    """The type itself and, of a vector of them, that of its elements."""
    type_ = target(type_)
    return [type_] + ([target(type_.template_argument(0))] if short_name(type_) == "vector" else [])


def may_carry(symbol):
    if symbol.name == "this":
        return False
    if target(symbol.type).code == gdb.TYPE_CODE_INT:
        return symbol.name in NUMBERS
    return any(short_name(each) in TYPES for each in elements(symbol.type))


def holds(name, value, depth=0):
    """Whether `value`, an argument or member called `name`, is or has what is followed."""
    while value.type.strip_typedefs().code in INDIRECT:
        is_pointer = value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR
        if is_pointer and int(value) == 0:
            return False
        value = value.dereference() if is_pointer else value.referenced_value()
    type_ = value.type.strip_typedefs()
    if type_.code == gdb.TYPE_CODE_INT:
        return name in MEMBERS and value == MARK
    if type_.code not in STRUCTS or depth > 4:
        return False
    kind = short_name(type_)
    if kind == "Batch" and isinstance(MARK, str):
        return int(value["storage_"]) != 0 and int(value["storage_"]["size"]) > 0
    if kind == "basic_string_view" and isinstance(MARK, str):
        return MARK in value["_M_str"].string(length=int(value["_M_len"]), errors="replace")
    if kind == "vector":
        data = value["_M_impl"]
        count = int(data["_M_finish"] - data["_M_start"])
        return any(holds("", data["_M_start"][i], depth + 1) for i in range(min(count, 8)))
    if (type_.name or "").startswith("std::"):
        return False
    return any(holds(field.name or "", value[field], depth + 1)
               for field in type_.fields() if hasattr(field, "bitpos") and not field.artificial
               and target(field.type).code in STRUCTS + (gdb.TYPE_CODE_INT,)
               and field.type.strip_typedefs().code not in INDIRECT)


def functions():
    """(file in the project, what gdb calls the file, line, signature) of each function of the project."""
    path = name = ""
    for line in gdb.execute("info functions -n .", to_string=True).splitlines():
        if line.startswith("File "):
            path = re.sub(r"^modules/\w+/", "src/", re.sub(r"^.*\.\./", "", line[5:-1]))
            # Headers of a module are reached through a link.
            name = path[4:] if path.startswith("src/") and path.endswith(".hpp") else path
        elif found := re.match(r"(\d+):\t(.*);$", line):
            if re.match(r"(src|include|examples)/", path):
                yield path, name, int(found[1]), found[2]


class Call(gdb.Breakpoint):
    seen = set()
    ended = False

    def __init__(self, path, address):
        super().__init__(f"*{address}", internal=True)
        self.silent, self.path = True, path

    def stop(self):
        frame = gdb.newest_frame()
        name = re.sub(r"<[^()]*>", "", frame.name() or "").replace("hummer::", "")
        block = frame.block()
        while block.function is None:
            block = block.superblock
        named = bool(FUNCTIONS.search(name))
        if not STARTS.search(name):
            try:
                if not any(holds(each.name, frame.read_var(each, block)) for each in block
                           if each.is_argument and (named or may_carry(each))):
                    return False
            except gdb.error:  # an argument that is not made yet
                return False
        if (self.path, name) not in Call.seen:
            Call.seen.add((self.path, name))
            print("CALL", self.path, name, flush=True)
        Call.ended = bool(re.search(RULE["last"], name))
        return Call.ended


def main():
    for setting in ("pagination off", "width 0", "breakpoint pending off", "complaints 0",
                    "print thread-events off"):
        gdb.execute("set " + setting)
    gdb.execute("starti")  # from here on addresses are those of the run
    words = re.compile(r"\b(" + "|".join(TYPES) + r")\b" + (r"|unsigned long|uint64" if NUMBERS else ""))
    count = 0
    for path, name, line, signature in sorted(set(functions())):
        named = FUNCTIONS.search(signature) or STARTS.search(signature)
        if not named and not words.search(signature):
            continue
        for place in gdb.decode_line(f"{name}:{line}")[1] or ():
            block = gdb.block_for_pc(place.pc) if place.pc else None
            while block is not None and block.function is None:
                block = block.superblock
            if block is None or block.start != place.pc:
                continue
            if not named and not any(each.is_argument and may_carry(each) for each in block):
                continue
            # Arguments are in their places from the second line on. (What gdb says of whole compilations
            # is no key to tables of lines: several of one header begin at the same address.)
            second = gdb.find_pc_line(place.pc).last
            if second is not None and second + 1 < block.end:
                Call(path, second + 1)
                count += 1
    print(f"{count} functions are watched", flush=True)
    gdb.execute("continue")
    if Call.ended:
        gdb.execute("kill")


main()
