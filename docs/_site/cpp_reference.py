# SPDX-License-Identifier: BSD-3-Clause
"""Writes the pages of reference/cpp, one for each public header, from what Doxygen has read of it.

    cpp_reference.py build/docs/xml docs/reference/cpp
"""

import collections
import pathlib
import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree

MARKS = {"emphasis": "*", "bold": "**"}
SIGNS = {"zwj": "", "ndash": "--", "mdash": "---", "nonbreakablespace": " "}
KINDS = {"class", "struct", "concept"}


def plain(node):
    """The text of a node without markup, with single spaces."""
    return "" if node is None else " ".join("".join(node.itertext()).split())


def markdown(node):
    """What a comment says, as Markdown."""
    parts = [escaped(node.text)]
    for child in node:
        if child.tag in ("computeroutput", "ref"):
            parts.append(f"`{plain(child)}`")
        elif child.tag == "ulink":
            parts.append(f"[{plain(child)}]({child.get('url')})")
        elif child.tag in ("verbatim", "programlisting"):
            parts.append(f"\n\n```text\n{''.join(child.itertext()).strip()}\n```\n\n")
        elif child.tag in ("itemizedlist", "orderedlist"):
            mark = "1." if child.tag == "orderedlist" else "-"
            parts.append("\n\n" + "\n".join(f"{mark} {markdown(item).strip()}" for item in child) + "\n\n")
        elif child.tag in ("emphasis", "bold"):
            parts.append(MARKS[child.tag] + markdown(child).strip() + MARKS[child.tag])
        elif child.tag in SIGNS:
            parts.append(SIGNS[child.tag])
        elif child.tag == "blockquote":  # a comment that begins with >
            parts.append("\\> " + markdown(child).strip())
        elif child.tag == "para":
            parts.append("\n\n" + markdown(child).strip() + "\n\n")
        else:
            raise SystemExit(f"cpp_reference: no way to write <{child.tag}> of a comment: {plain(node)}")
        parts.append(escaped(child.tail))
    return re.sub(r"\n{3,}", "\n\n", "".join(parts))


def escaped(text):
    """Text in which nothing is markup."""
    return re.sub(r"([\\`*_\[\]<>|$#{}])", r"\\\1", re.sub(r"\s+", " ", text or ""))


def said(entity):
    parts = [markdown(entity.find(tag)).strip() for tag in ("briefdescription", "detaileddescription")]
    return "\n\n".join(part for part in parts if part)


def template_line(entity):
    parameters = entity.find("templateparamlist")
    if parameters is None:
        return ""
    texts = []
    for one in parameters:
        default = plain(one.find("defval"))
        text = f"{plain(one.find('type'))} {plain(one.find('declname'))}".strip()
        texts.append(text + (f" = {default}" if default else ""))
    requirement = plain(entity.find("requiresclause"))
    return f"template <{', '.join(texts)}>\n" + (f"  requires {requirement}\n" if requirement else "")


def tidy(code):
    code = re.sub(r"[\w:]*::@\d+", "{...}", code)  # a struct without a name
    code = re.sub(r"\s+([&*]+)\s*", r"\1 ", code)
    return re.sub(r"< ?(.*?) ?>", r"<\1>", code).replace(" >", ">").replace("< ", "<").strip()


def declaration(member):
    kind, name = member.get("kind"), member.findtext("name")
    type_of = tidy(plain(member.find("type")))
    value = plain(member.find("initializer"))
    if kind == "define":
        arguments = ", ".join(plain(one) for one in member.findall("param"))
        return f"#define {name}" + (f"({arguments})" if arguments else "")
    if kind == "enum":
        values = [one.findtext("name") for one in member.findall("enumvalue")]
        return f"enum class {name} {{ {', '.join(values)} }};"
    if kind == "typedef":
        return f"{template_line(member)}using {name} = {type_of};"
    if kind == "variable":
        text = f"{type_of} {name}{member.findtext('argsstring') or ''} {value}".strip()
        return template_line(member) + text + ";"
    words = [word for word in ("static", "explicit") if member.get(word) == "yes"]
    return template_line(member) + " ".join([*words, *type_of.split(), f"{name}{wrapped(member)};"])


def wrapped(member):
    """The arguments of a function, one a line where they are long."""
    arguments = member.findtext("argsstring") or ""
    if len(arguments) < 80 or len(member.findall("param")) < 2:
        return tidy(arguments)
    texts = []
    for one in member.findall("param"):
        default = plain(one.find("defval"))
        text = f"{tidy(plain(one.find('type')))} {plain(one.find('declname'))}{plain(one.find('array'))}".strip()
        texts.append(f"    {text}" + (f" = {default}" if default else ""))
    return "(\n" + ",\n".join(texts) + arguments[arguments.rfind(")") :]


def code(text):
    return f"```cpp\n{text}\n```\n"


def definition(term, text):
    """An entry of a list of names and what they mean."""
    lines = (text or "&nbsp;").split("\n")
    return f"`{term}`\n: " + "\n  ".join(lines) + "\n"


class Header:
    """What one header declares, in the order of the source."""

    def __init__(self):
        self.file, self.entities = None, []

    def page(self, name):
        lines = [f"# {name}\n", code(f"#include <quadrat/{name}>"), said(self.file) if self.file is not None else ""]
        groups = collections.OrderedDict()
        for _, entity in sorted(self.entities, key=lambda pair: pair[0]):
            full = entity.findtext("compoundname") or entity.findtext("name")
            groups.setdefault(full.split("::", 1)[1] if full.startswith("quadrat::") else full, []).append(entity)
        for title, entities in groups.items():
            lines.append(f"\n## `{title}`\n")
            lines += compound(entities[0], title) if entities[0].tag == "compounddef" else members(entities)
        return "\n".join(lines)


def compound(entity, title):
    kind = entity.get("kind")
    if kind == "concept":
        return [code(plain(entity.find("initializer"))), said(entity)]
    bases = ", ".join(plain(one) for one in entity.findall("basecompoundref"))
    name = title.rsplit("::", 1)[-1]
    lines = [code(f"{template_line(entity)}{kind} {name}" + (f" : {bases};" if bases else ";")), said(entity), ""]
    public = [one for section in entity.findall("sectiondef") for one in section if visible(one)]
    public.sort(key=lambda one: int(one.find("location").get("line")))
    values = [one for one in public if one.get("kind") == "variable"]
    if not any(said(one) for one in values):
        return lines + members(public)
    lines += [definition(declaration(one).rstrip(";"), said(one)) for one in values]
    return lines + members([one for one in public if one.get("kind") != "variable"])


def visible(member):
    name = member.findtext("name")
    return member.get("prot") == "public" and member.get("kind") != "friend" and not name.startswith(("~", "@"))


def members(entities):
    """Declarations, each with what is said of it and of those below it that go without saying."""
    lines, above = [], None
    for entity in entities:
        text, values = said(entity), entity.findall("enumvalue")
        if above is not None and not text and not values and alike(above, entity):
            lines[-2] = lines[-2].removesuffix("\n```\n") + "\n" + code(declaration(entity)).removeprefix("```cpp\n")
        else:
            lines += [code(declaration(entity)), text + "\n"]
        lines[-1] += "\n" + "\n".join(definition(one.findtext("name"), said(one)) for one in values) if values else ""
        above = entity
    return lines


def alike(above, entity):
    """Whether a declaration shares the comment of the one above it."""
    if above.findtext("name") == entity.findtext("name") or not said(above):
        return True
    return plain(above.find("type")) == plain(entity.find("type")) and len(above.findall("param")) == len(
        entity.findall("param")
    )


def read(folder):
    headers = collections.defaultdict(Header)
    for file in sorted(folder.glob("*.xml")):
        for entity in ElementTree.parse(file).getroot().findall("compounddef"):
            kind, place = entity.get("kind"), entity.find("location")
            if kind == "file":
                headers[place.get("file")].file = entity
                add(headers, entity.findall("sectiondef/memberdef[@kind='define']"))
            elif kind == "namespace":
                add(headers, entity.findall("sectiondef/memberdef"))
            elif kind in KINDS and entity.get("prot", "public") == "public" and visible_name(entity):
                headers[place.get("file")].entities.append((int(place.get("line")), entity))
    return {name.removeprefix("quadrat/"): header for name, header in headers.items() if header.entities}


def visible_name(entity):
    name = entity.findtext("compoundname")
    return name.startswith("quadrat::") and "@" not in name and "detail::" not in name and "<" not in name


def add(headers, found):
    for member in found:
        if member.get("kind") == "define" and not said(member):
            continue
        place = member.find("location")
        headers[place.get("file")].entities.append((int(place.get("line")), member))


def index_page(title, text, entries):
    tree = "\n".join(entries)
    return f"# {title}\n\n{text}\n\n```{{toctree}}\n:maxdepth: 1\n\n{tree}\n```\n"


def main():
    source, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    shutil.rmtree(target, ignore_errors=True)
    modules = collections.defaultdict(list)
    headers = read(source)
    for name in sorted(headers):
        page = (target / name).with_suffix(".md")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(headers[name].page(name))
        modules[name.split("/")[0]].append(name.split("/", 1)[1].removesuffix(".hpp"))
    for module, pages in modules.items():
        (target / module / "index.md").write_text(index_page(module, f"The headers of `quadrat::{module}`.", pages))
    text = "Every public header, module by module. `#include <quadrat/quadrat.hpp>` includes all but `io` and `mpi`."
    (target / "index.md").write_text(index_page("C++", text, [f"{module}/index" for module in sorted(modules)]))
    print(f"cpp_reference: {len(headers)} headers")


if __name__ == "__main__":
    main()
