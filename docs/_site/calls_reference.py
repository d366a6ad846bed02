# SPDX-License-Identifier: BSD-3-Clause
"""Writes reference/calls.md: what public headers say of each call about waiting, memory, CUDA graphs and determinism.

    calls_reference.py include/quadrat docs/reference/calls.md
"""

import dataclasses
import pathlib
import re
import sys

MODULES = "cells search contacts mesh keyed spectral ewald hydro distributed parallel models".split()
REST = r"\b(?:[^.;:]|[.:](?=[:\w]))*"  # of a sentence or its part; names such as options.method hold dots
WAITS = re.compile(r"\bwaits?" + REST, re.I)
DOES_NOT_WAIT = re.compile(r"\b(?:do|does) not wait" + REST, re.I)
MEMORY = re.compile(r"\b(?:may allocate|allocates?)" + REST, re.I)
CAPTURED = re.compile(r"\bcan be captured" + REST, re.I)
DETERMINISM = re.compile(
    r"Determinism: .*?(?=$| Throws?\b| Sources?: | For an example )"
    r"|[^.]*\b(?:Deterministic|[Ss]ame (?:bits|bytes)|bits are the same|[Ss]ame (?:in|on) every)\b[^.]*\."
)


@dataclasses.dataclass
class Call:
    """A function, or all functions of one name in one class or header."""

    module: str
    scope: str  # the class, or the header of functions that belong to none
    name: str
    header: str
    line: int
    comments: list[str] = dataclasses.field(default_factory=list)

    @property
    def key(self):
        return f"{self.scope}::{self.name}"

    def said(self, pattern):
        """The first words that match."""
        return next((found[0].rstrip(" ,") for found in map(pattern.search, self.comments) if found), "")

    @property
    def does_not_wait(self):
        return self.said(DOES_NOT_WAIT)

    @property
    def waits(self):
        return "" if self.does_not_wait else self.said(WAITS)

    @property
    def memory(self):
        return self.said(MEMORY)

    @property
    def captured(self):
        return self.said(CAPTURED)

    @property
    def claims(self):
        """What a test can check."""
        words = {"waits": self.waits, "captured": self.captured}
        words["allocates"] = self.memory and not re.match(r"allocates? nothing", self.memory, re.I)
        return {name for name, word in words.items() if word}


@dataclasses.dataclass
class Scope:
    """A class, or the functions of a header."""

    module: str
    name: str
    header: str
    determinism: str = ""
    calls: list[Call] = dataclasses.field(default_factory=list)


def name_of(declaration):
    """The name of the function that is declared, or nothing."""
    text = re.sub(r"\[\[.*?\]\]|\bnoexcept\b|\bQUADRAT_\w+\(.*?\)", "", declaration)
    while text.lstrip().startswith("template"):
        text = text[end_of_brackets(text) :]
    text = re.sub(r"^\s*requires\b.*?(?=\b(?:void|auto|int|T|bool)\b)", "", text)
    found = re.match(r"\s*(?!using|friend|static|explicit|return|operator)[\w:<>,&* \[\]]*?\b(\w+)\(", text)
    return found[1] if found and "operator" not in text[: found.end()] and "=" not in text[: found.start(1)] else ""


def end_of_brackets(text):
    """One past the first angle bracket that closes all before it."""
    depth = 0
    for at, sign in enumerate(text):
        depth += {"<": 1, ">": -1}.get(sign, 0)
        if sign == ">" and depth == 0:
            return at + 1
    return len(text)


def declarations(text):
    """(class, whether it is of a context, public, comment, declaration, line) of what a formatted header declares."""
    inside, of_context, public, hidden = "", False, True, False
    comment, group, declaration, shared = [], [], "", True
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"namespace (\w+::)*detail\b", line):
            hidden = True
        if hidden:
            hidden = not re.match(r"}  // namespace (\w+::)*detail", line)
            continue
        indent, words = len(line) - len(line.lstrip()), line.strip()
        level = 2 if inside else 0
        if not words or words.startswith("#"):
            comment, group, declaration = [], [], ""
        elif words.startswith("///") and indent == level and not declaration:
            if shared and comment and comment[0].startswith("The next "):  # functions, up to an empty line
                group = comment + [""]
            comment = (group if shared else comment) + [words[3:].strip()]
            shared = False
        elif line.startswith("};"):
            inside, of_context, public, comment, declaration = "", False, True, [], ""
        elif re.fullmatch(r" (public|private|protected):", line):
            public, comment = words == "public:", []
        elif indent == level or declaration:
            if indent == level and words in ("}", "};"):
                continue
            declaration += " " + words.split("//")[0]
            opened = re.search(r"\b(class|struct) (\w+)[^;()]*{$", declaration)
            if opened and not inside:
                yield opened[2], "", False, False, joined(comment), declaration, number
                inside, public = opened[2], opened[1] == "struct"
                of_context = "typename Context" in declaration
                comment, declaration = [], ""
            elif words.endswith((";", "{", "}")):
                yield "", inside, of_context, public, joined(comment), declaration, number
                declaration, shared = "", True


def joined(lines):
    """The paragraphs of a comment, one a line."""
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n\n+", "\n".join(lines)))


def is_call(inside, of_context, name, declaration, comment):
    if not name or name in (inside, "swap") or "QUADRAT_HD" in declaration or "constexpr" in declaration:
        return False
    if inside:
        spoken = name.endswith("_async") or DOES_NOT_WAIT.search(comment) or WAITS.search(comment)
        return of_context and (spoken or not re.search(r"\)\s*const\b", declaration))
    return not name.startswith("make_") and re.search(r"\bContext(, \w+)*>?&|_context&", declaration)


def read(folder):
    """The scopes of all modules, in the order of headers and declarations."""
    scopes = {}
    for module in MODULES:
        for header in sorted((folder / module).glob("*.hpp")):
            collect(scopes, module, header.name, header.read_text())
    found = [scope for scope in scopes.values() if scope.calls]
    calls = {call.key: call for scope in found for call in scope.calls}
    for call in calls.values():  # "Like grid_cells::build."
        like = re.match(r"(?:As|Like) (\w+::\w+)", call.comments[0]) if call.comments else None
        if like and like[1] in calls:
            call.comments += calls[like[1]].comments
    return found


def collect(scopes, module, header, text):
    calls = {}
    above = re.search(r"((?:^///.*\n)+)(?=\n?namespace quadrat)", text, re.M)  # what is said of the header
    said = joined([line[3:].strip() for line in above[1].splitlines()]) if above else ""
    scopes[module, header, header] = Scope(module, header, header, " ".join(determinism(said)))
    for opened, inside, of_context, public, comment, declaration, line in declarations(text):
        owner = opened or inside or header
        scope = scopes.setdefault((module, header, owner), Scope(module, owner, header))
        if opened:
            scope.determinism = " ".join(determinism(comment))
        name = name_of(declaration) if public and not opened else ""
        if not is_call(inside, of_context, name, declaration, comment):
            continue
        call = calls.get((scope.name, name))
        if call is None:
            call = calls[scope.name, name] = Call(module, scope.name, name, header, line)
            scope.calls.append(call)
        if comment and comment not in call.comments:
            call.comments.append(comment)


def determinism(comment):
    """What a comment says about determinism, in sentences."""
    return [found.strip() for paragraph in comment.split("\n") for found in DETERMINISM.findall(paragraph)]


def page(scopes):
    lines = ["# Calls\n", "What each public call promises ([conventions](../concepts/conventions.md)).\n"]
    module = ""
    for scope in scopes:
        if scope.module != module:
            module = scope.module
            lines.append(f"## {module}\n")
        own = [f"`{call.name}`: {text}" for call in scope.calls for text in own_determinism(call)]
        said = [text for text in [scope.determinism, *own] if text]
        link = f"[{scope.header}](cpp/{module}/{scope.header.removesuffix('.hpp')}.md)"
        lines += [f"### `{scope.name}`\n", "  \n".join([link, *map(prose, said)]) + "\n"]
        lines += ["| call | waits | memory | CUDA graphs |", "|---|---|---|---|", *map(row, scope.calls), ""]
    return "\n".join(lines)


def prose(text):
    """Text in which nothing is markup but code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_\[\]<>|$#{}])", r"\\\1", part) for part in parts)


def own_determinism(call):
    return [text for comment in call.comments for text in determinism(comment)]


def row(call):
    words = [call.waits or call.does_not_wait, call.memory, call.captured]
    return f"| `{call.name}` | " + " | ".join(prose(word[:1].lower() + word[1:]) for word in words) + " |"


def main():
    scopes = read(pathlib.Path(sys.argv[1]))
    pathlib.Path(sys.argv[2]).write_text(page(scopes))
    print(f"calls_reference: {sum(len(scope.calls) for scope in scopes)} calls")


if __name__ == "__main__":
    main()
