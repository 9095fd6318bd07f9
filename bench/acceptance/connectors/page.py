"""What a page of docs/ shows: its blocks of code, its command lines, and how an item ran each.

    page = Page("connectors.md")
    text = page.take("command hummer submit", "on a cluster")   # Failed where the page has none
    page.rest()                                                  # what was never taken

Pieces are known by labels, which a page may have one of each:

    cmake                   a block of CMake
    from FILE               a block of C++ below a mark `from: FILE`
    code N                  the Nth other block of code of the page, fenced or indented
    command WORDS           a line that begins with a program, in an indented block or within prose;
                            WORDS are the program, and of `hummer` its command, with --descriptor where
                            that is there
    call NAME               a call within prose that has braces: an example, not a signature
"""
import re

from cluster import ROOT, Failed

PROGRAMS = r"(?:hummer [a-z]|protoc |apt-get |(?:build/release|scripts|bench)/\S+ )"
COMMAND = re.compile(PROGRAMS)
CALL = re.compile(r"[\w:]+(?:<\w+>)?\(.*\{.*\)")


def label_of_command(text):
    words = text.split()
    name = words[:2] if words[0] in ("hummer", "apt-get") else words[:1]
    return " ".join(["command", *name, *(word for word in words if word == "--descriptor")])


def label_of_call(text):
    return "call " + re.match(r"[\w:]+", text).group(0)


class Piece:
    def __init__(self, line, label, text):
        self.line, self.label, self.text, self.how = line, label, text, None


class Page:
    def __init__(self, name):
        self.name = name
        self.pieces = []
        self.read((ROOT / "docs" / name).read_text())
        self.pieces.sort(key=lambda piece: piece.line)
        blocks = [piece for piece in self.pieces if piece.label is None]
        for number, piece in enumerate(blocks, 1):
            piece.label = f"code {number}"
        labels = [piece.label for piece in self.pieces]
        if twice := {label for label in labels if labels.count(label) > 1}:
            raise Failed(f"docs/{name} has several of {', '.join(sorted(twice))}: give them labels of their own")

    def read(self, text):
        """Blocks first: what is in one is no prose, and leaves its line ends behind."""
        def fenced(found):
            language, mark, code = found["language"], found["mark"], found["code"]
            self.add(found, f"from {mark}" if mark else "cmake" if language == "cmake" else None, code)
            return "\n" * found.group(0).count("\n")

        def indented(found):
            lines = [line[4:] for line in found.group(0).rstrip("\n").split("\n")]
            if all(COMMAND.match(line) for line in lines):
                for line in lines:
                    self.add(found, label_of_command(line), line)
            else:
                self.add(found, None, "\n".join(lines) + "\n")
            return "\n" * found.group(0).count("\n")

        text = re.sub(r"(?:^<!-- from: (?P<mark>\S+) -->\n)?^```(?P<language>\w*)\n(?P<code>.*?)^```\n",
                      fenced, text, flags=re.DOTALL | re.MULTILINE)
        text = re.sub(r"(?<=\n\n)(?: {4}.*\n)+", indented, text)
        for found in re.finditer(r"`([^`]+)`", text):
            words = " ".join(found.group(1).split())
            if COMMAND.match(words):
                self.add(found, label_of_command(words), words)
            elif CALL.fullmatch(words):
                self.add(found, label_of_call(words), words)

    def add(self, found, label, code):
        self.pieces.append(Piece(found.string.count("\n", 0, found.start()) + 1, label, code))

    def take(self, label, how):
        for piece in self.pieces:
            if piece.label == label:
                piece.how = how
                return piece.text
        raise Failed(f"docs/{self.name} has no {label} any more")

    def take_program(self, file, how):
        """The whole file, of which the page shows a part as it stands there."""
        shown, whole = self.take(f"from {file}", how), (ROOT / file).read_text()
        if shown not in whole:
            raise Failed(f"docs/{self.name}: the example from {file} is not as it stands there")
        return whole

    def rest(self):
        return [piece for piece in self.pieces if piece.how is None]

    def lines(self):
        for piece in self.pieces:
            yield f"docs/{self.name}:{piece.line}", piece.label, piece.how or "NOT RUN"
