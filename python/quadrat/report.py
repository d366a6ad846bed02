# SPDX-License-Identifier: BSD-3-Clause
"""Makes one HTML page, which needs no network, from results of `quadrat bench --json`: the papers' figures beside the
papers' results, and every file as a sortable table.

    python3 -m quadrat.report benchmarks/results                # writes report.html here

Files that are not results are named and skipped."""

import argparse
import collections
import html
import json
import math
import os
import pathlib
import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

from . import _command
from ._pages import papers as _papers
from ._pages.papers import PAPERS as PAPERS
from ._pages.papers import Figure, Row
from ._types import FilePath

__all__ = ["PAPERS", "Results", "leaders", "page", "panels_of", "read"]

Series: TypeAlias = dict[str, tuple[list[Any], list[Any]]]  # [x] and [y] by name

PREFERRED = "H200"  # the device whose panels come first
_SHOWN = 2000  # rows of a table
_STRETCHES = 6  # in a sentence about which method is best where


class Results:
    """A file of results: where it is, `meta`, `rows`."""

    meta: dict[str, Any]
    rows: list[Row]

    def __init__(self, file: pathlib.Path, root: pathlib.Path) -> None:
        with open(file, encoding="utf-8") as stream:
            content = json.load(stream)
        self.name: str = file.relative_to(root).as_posix() if file != root else file.name
        meta, rows = (content.get(key) if isinstance(content, dict) else None for key in ("meta", "rows"))
        if not isinstance(meta, dict) or not isinstance(rows, list):
            raise ValueError("it has no meta and rows, as quadrat bench --json writes them")
        if not all(isinstance(row, dict) and "op" in row for row in rows):
            raise ValueError("a row has no op")
        self.meta, self.rows = meta, rows
        for row in rows:  # rows of choices name the chosen method instead
            row.setdefault("method", row.get("chosen", ""))

    @property
    def device(self) -> str:
        return str(self.meta.get("device") or self.meta.get("machine") or self.name)


def read(path: FilePath) -> tuple[list[Results], list[str]]:
    """(results, skipped): the results in a folder and its subfolders, and a line for each file that is not a result."""
    path = pathlib.Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")
    results, left_out = [], []
    for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
        try:
            results.append(Results(file, path))
        except ValueError as problem:
            left_out.append(f"{file}: {problem}")
    if not results:
        raise ValueError(f"{path} holds no results of quadrat bench" + "".join(f"\n  {line}" for line in left_out))
    return results, left_out


def _number(value):
    """The number; JSON has no inf and nan."""
    return value if not isinstance(value, float) or math.isfinite(value) else None


def panels_of(figure: Figure, results: Sequence[Results]) -> dict[str, Series]:
    """{name of the panel: {name of the series: ([x], [y])}}; for rows measured twice, the first is used."""
    found: dict[str, dict[str, dict[Any, Any]]] = {}
    several = len({one.device for one in results if _drawable(figure, one)}) > 1
    for one in results:
        for row in _drawable(figure, one):
            x, y = _papers.value(row, figure.x), _papers.value(row, figure.y)
            if x is None or y is None:
                continue
            names = [one.device] * several + ([str(_papers.value(row, figure.panels))] if figure.panels else [])
            series = found.setdefault(", ".join(names), {}).setdefault(str(_papers.value(row, figure.series)), {})
            series.setdefault(x, _number(y))
    order = sorted(found, key=lambda name: PREFERRED not in name)  # of equals, the order of the files
    return {panel: {name: _sorted(points) for name, points in found[panel].items()} for panel in order}


def _drawable(figure, results):
    return _papers.rows_for(figure, results.rows) if results.meta.get("topic") == figure.topic else []


def _sorted(points):
    items = list(points.items())
    if all(isinstance(x, (int, float)) for x, _ in items):
        items.sort()
    return [x for x, _ in items], [y for _, y in items]


def leaders(series: Series, more: bool) -> str:
    """The best series at each x: "runs at 1,000, atomic from 2,000 to 8,000"; empty if it changes often."""
    best: dict[Any, tuple[Any, str]] = {}
    for name, (xs, ys) in series.items():
        for x, y in zip(xs, ys):
            if y is not None and (x not in best or (y > best[x][0] if more else y < best[x][0])):
                best[x] = (y, name)
    order = sorted(best) if all(isinstance(x, (int, float)) for x in best) else list(best)
    stretches: list[list[Any]] = []  # name, first and last x
    for x in order:
        if stretches and stretches[-1][0] == best[x][1]:
            stretches[-1][2] = x
        else:
            stretches.append([best[x][1], x, x])

    def text(value):
        return f"{value:,}" if isinstance(value, int) else f"{value:.3g}" if isinstance(value, float) else str(value)

    if len(stretches) > _STRETCHES:
        return ""
    return ", ".join(
        f"{name} at {text(first)}" if first == last else f"{name} from {text(first)} to {text(last)}"
        for name, first, last in stretches
    )


def _figure_json(figure, panels):
    return {
        "panels": [
            {
                "name": name,
                "best": leaders(series, figure.more) if len(series) > 1 else "",
                "series": [{"name": one, "x": x, "y": y} for one, (x, y) in series.items()],
            }
            for name, series in panels.items()
        ],
        "labels": figure.labels,
        "log": figure.log,
    }


def _docs_of(path, output):
    """The link from the page to the papers' pages in the clone that contains the results; None without a clone."""
    for folder in pathlib.Path(path).resolve().parents:
        if (folder / "docs" / PAPERS[0].page).exists():
            return pathlib.Path(os.path.relpath(folder / "docs", pathlib.Path(output).resolve().parent)).as_posix()
    return None


def _sources_html(figure, results):
    """Links to the tables of a figure's files."""
    links = (
        f'<a href="#table{number}">{html.escape(one.name)}</a>'
        for number, one in enumerate(results) if _drawable(figure, one)
    )  # fmt: skip
    return ", ".join(links)


def _paper_html(paper, results, figures, docs):
    parts = []
    for figure in paper.figures:
        panels = panels_of(figure, results)
        if not panels:
            continue
        number = len(figures)
        figures.append(_figure_json(figure, panels))
        findings = "".join(f"<li>{html.escape(one)}</li>" for one in figure.findings)
        parts.append(
            f'<article><div class="words"><h3>{html.escape(figure.title)}</h3><p>The paper:</p><ul>{findings}</ul>'
            f'<p class="choice" hidden><label>Shown: <select data-figure="{number}"></select></label></p>'
            f'<p class="best"></p><p class="sources">Drawn from {_sources_html(figure, results)}.</p></div>'
            f'<div class="plot" id="figure{number}"></div></article>'
        )
    if not parts:
        return ""
    today = "" if docs is None else f' <a href="{html.escape(docs)}/{paper.page}">What holds today</a>.'
    return (
        f'<section id="{pathlib.Path(paper.page).stem}"><h2>{html.escape(paper.name)}</h2>'
        f"<p>{html.escape(paper.about)}.{today}</p>{''.join(parts)}</section>"
    )


def _introduction_html(papers, results):
    """The contents of the page, with links to its parts."""
    devices = collections.Counter(one.device for one in results).most_common(3)
    links = [(pathlib.Path(paper.page).stem, paper.name) for paper in papers] + [("all", "All results")]
    return (
        f"<p>What <code>quadrat bench</code> has measured: {len(results)} files, most of "
        f"{html.escape(', '.join(f'{name} ({count})' for name, count in devices))}.{_HOW_TO_READ if papers else ''}</p>"
        f"<nav>{''.join(f'<a href=#{place}>{html.escape(name)}</a>' for place, name in links)}</nav>"
    )


_HOW_TO_READ = (
    " Papers have compared methods for particles and grids; each of their figures is drawn here from new measurements, "
    "beside what the paper found. A line is a method, and the sentence below the choice of devices says which is best "
    "where. Point at a line for its values; click on a name to hide its line, twice to see it alone. Below are all "
    "files as tables."
)


def _cell(value):
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    return _number(value) if isinstance(value, (int, float)) else str(value)


def _table_json(results):
    rows = results.rows[:_SHOWN]
    columns = list(dict.fromkeys(key for row in rows for key, one in row.items() if not isinstance(one, (dict, list))))
    return {"columns": columns, "rows": [[_cell(row.get(column)) for column in columns] for row in rows]}


def _tables_html(results):
    parts = []
    for number, one in enumerate(results):
        cut = f", the first {_SHOWN:,} shown" if len(one.rows) > _SHOWN else ""
        known = [one.meta.get("device") or one.meta.get("machine"), one.meta.get("version"), one.meta.get("commit")]
        about = ", ".join([*(str(word) for word in known if word), f"{len(one.rows):,} rows{cut}"])
        parts.append(
            f'<details data-table="{number}" id="table{number}"><summary><b>{html.escape(one.name)}</b> '
            f"{html.escape(about)}</summary>"
            '<input type="search" placeholder="rows with this text" aria-label="filter">'
            '<div class="scroll"></div></details>'
        )
    return "".join(parts)


def page(
    path: FilePath, title: str = "Quadrat: measured", output: FilePath = "report.html"
) -> tuple[str, list[str]]:
    """The page as text, and the lines of skipped files. `output`: the place of the page, for links to files."""
    offline = _command.needed("plotly.offline", "view")
    results, left_out = read(path)
    figures: list[dict[str, Any]] = []
    docs = _docs_of(path, output)
    found = {paper: _paper_html(paper, results, figures, docs) for paper in PAPERS}
    papers = "".join(found.values())
    data = {"figures": figures, "tables": [_table_json(one) for one in results]}
    text = (pathlib.Path(__file__).parent / "_pages" / "report.html").read_text(encoding="utf-8")
    for name, value in (
        ("TITLE", html.escape(title)),
        ("INTRODUCTION", _introduction_html([paper for paper in PAPERS if found[paper]], results)),
        ("PAPERS", papers or "<p>None of these files has figures of the papers.</p>"),
        ("TABLES", _tables_html(results)),
        ("DATA", json.dumps(data, allow_nan=False).replace("</", "<\\/")),
        ("PLOTLY", offline.get_plotlyjs()),
    ):
        text = text.replace(f"[[{name}]]", value)
    return text, left_out


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser("python3 -m quadrat.report", description=__doc__.split("\n\n")[0])
    parser.add_argument("path", help="a folder of results, or one file")
    parser.add_argument("-o", "--output", default="report.html", help="the page (default report.html)")
    parser.add_argument("--title", default="Quadrat: measured")
    options = parser.parse_args(arguments)
    text, left_out = page(options.path, options.title, options.output)
    _command.write_whole(options.output, text)
    print(f"{options.output}: {len(text) / 1e6:.1f} MB")
    for line in left_out:
        print(f"left out: {line}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(_command.run("quadrat.report", main, sys.argv[1:]))
