# SPDX-License-Identifier: BSD-3-Clause
"""The pages of quadrat.view and quadrat.report, opened in Chromium where it is there."""

import json
import pathlib
import re
import subprocess
import sys

import browser
import numpy as np
import pytest
import quadrat
import runs

from quadrat import frames, report, view
from quadrat._pages import papers as _papers

RESULTS = pathlib.Path(__file__).parents[2] / "benchmarks" / "results"
needs_chromium = pytest.mark.skipif(browser.PROGRAM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return runs.run(tmp_path_factory.mktemp("run"))


def decoded(text):
    """The frames of a page, as its script decodes them."""
    import base64
    import zlib

    data = json.loads(text.split('<script id="view-data" type="application/json">')[1].split("</script>")[0])
    n, before, result = data["count"], None, []
    for packed in data["frames"]:
        raw = np.frombuffer(zlib.decompress(base64.b64decode(packed)), np.uint8)
        positions = raw[: 3 * n].astype(np.uint16) | raw[3 * n : 6 * n].astype(np.uint16) << 8
        fields = raw[6 * n :].reshape(data["varying"], n)
        if before is not None:
            positions, fields = positions + before[0], fields + before[1]
        before = positions, fields
        result.append((np.array(data["low"]) + positions.reshape(n, 3) * data["step"], fields))
    return data, result


def test_a_page_holds_what_the_frames_hold(out):
    pytest.importorskip("k3d")
    text, about = view.page(out)
    assert about == "500 particles, 4 frames"
    data, shown = decoded(text)
    assert data["times"] == ["0", "10", "20", "30"] and data["first"] == "speed"
    names = [field["name"] for field in data["fields"]]
    assert names == ["velocity_x", "velocity_y", "velocity_z", "speed", "radius", "x", "y", "z"]
    speed = data["fields"][3]
    for (positions, fields), frame in zip(shown, frames.read(out), strict=True):
        assert np.abs(positions - frame.positions).max() <= 0.5 / 65535 * 0.51
        low, high = speed["range"]
        there = low + fields[speed["varying"]] * (high - low) / 255
        assert np.abs(there - frame.fields["speed"].clip(low, high)).max() <= 0.51 * (high - low) / 255


def test_large_runs_are_thinned_evenly_and_say_so(out):
    pytest.importorskip("k3d")
    text, about = view.page(out, most_frames=2, most_particles=100)
    assert about == "100 particles, 2 frames, evenly from 500 particles and 4 frames" and about in text
    assert decoded(text)[0]["times"] == ["0", "30"]
    random = np.random.default_rng(1)
    many = [
        frames.Frame(k, random.random((100_000, 3), np.float32), {}, np.zeros(3), np.ones(3), np.zeros(3, bool))
        for k in range(8)
    ]
    text, about = view.page(many, megabytes=2)
    assert about.startswith("100,000 particles, ") and "evenly from" in about and len(text) < 5e6


def test_runs_that_cannot_be_shown_are_refused(tmp_path):
    pytest.importorskip("k3d")
    for text, words in [
        ("0\nProperties=species:S:1:pos:R:3\n", "hold no particles"),
        ("1\n\nX 1 nan 2\n", "not finite"),
        ("1\n\nX 1 1 2\n2\n\nX 1 1 1\nX 2 2 2\n", "frame 1 of .* has other particles"),
        ("", "the file is empty"),
    ]:
        (tmp_path / "a.xyz").write_text(text)
        with pytest.raises(ValueError, match=words):
            view.page(tmp_path / "a.xyz")
    (tmp_path / "a.xyz").write_text("1\n\nX 1 1 2\n")
    with pytest.raises(ValueError, match="--frames is 0; it must be at least 1"):
        view.page(tmp_path / "a.xyz", most_frames=0)
    assert view.page(tmp_path / "a.xyz", title="</script><b>")[1] == "1 particles, 1 frame"


DAM = pathlib.Path(__file__).parents[2] / "examples" / "dam_break_small.toml"


def small_run():
    try:
        return quadrat.run(DAM, particles=300, steps=20, frame_every=10, device="cpu", threads=1)
    except ValueError as problem:
        pytest.skip(str(problem))


def test_a_run_in_memory_has_a_page_with_its_gravity(tmp_path):
    pytest.importorskip("k3d")
    run = small_run()
    text, about = view.page(run)
    assert about == "300 particles, 3 frames" and "<title>dam break small</title>" in text
    data, shown = decoded(text)
    assert data["first"] == "speed" and len(shown) == 3 and data["lower"] == [-0.5] * 3
    assert "radius" in [field["name"] for field in data["fields"]]
    assert run.facts["gravity"][1] < 0
    up = view._camera(view._Survey("run", lambda: iter(run.frames)), run.facts["gravity"])[6:]
    assert up == [0, 1, 0]
    assert view.write(tmp_path / "a.html", run.frames, title="frames", gravity=[1, 0, 0]).startswith(about)
    assert "<title>frames</title>" in (tmp_path / "a.html").read_text()


PLACES = """(() => {
  const of = name => document.getElementById(name).getBoundingClientRect();
  const inside = [...document.querySelectorAll('#view-panel > *')].map(one => one.getBoundingClientRect());
  const apart = (a, b) => a.right <= b.left + 0.5 || b.right <= a.left + 0.5 || a.bottom <= b.top + 0.5 || b.bottom <= a.top + 0.5;
  const panel = of('view-panel'), canvas = of('canvasTarget');
  return {
    overlaps: inside.flatMap((a, i) => inside.slice(i + 1).filter(b => !apart(a, b))).length,
    outside: inside.filter(one => one.left < 0 || one.right > innerWidth || one.bottom > innerHeight).length,
    covered: canvas.bottom - panel.top,
    marks: [...document.querySelectorAll('#scale-marks span')].map(one => one.textContent),
  };
})()"""
# Where the corners of the box are on the screen, from -1 to 1 each way.
CORNERS = """K3DInstance.then(k3d => {
  const camera = k3d.getWorld().camera, data = JSON.parse(document.getElementById('view-data').textContent);
  camera.updateMatrixWorld();
  return [...Array(8).keys()].flatMap(c => {
    const at = camera.position.clone().set(...[0, 1, 2].map(k => (c >> k & 1 ? data.upper : data.lower)[k]));
    const seen = at.project(camera);
    return [seen.x, seen.y];
  });
})"""


@needs_chromium
@pytest.mark.parametrize("width, height", [(390, 844), (1280, 800)])
def test_nothing_covers_anything_and_the_whole_box_is_seen(out, tmp_path, width, height):
    pytest.importorskip("k3d")
    view.write(tmp_path / "a.html", out)
    with browser.Browser() as page:
        page.resize(width, height)
        page.open(tmp_path / "a.html")
        page.wait_for("!!document.body && document.body.dataset.shown")
        page.wait_for("document.documentElement.style.getPropertyValue('--panel-height') !== ''")
        found = page.value(PLACES)
        assert (found["overlaps"], found["outside"]) == (0, 0) and abs(found["covered"]) <= 1
        assert max(map(abs, page.value(CORNERS))) < 1
        marks = [float(text) for text in found["marks"]]
        assert len(marks) > 2 and np.ptp(np.diff(marks)) < 1e-9 * marks[-1]
        scale = {
            (0, 11): ["0", "2.5", "5.0", "7.5", "10.0"], (-1, 1): ["-1.0", "-0.5", "0", "0.5", "1.0"],
            (0, 3e-5): ["0", "1e-5", "2e-5", "3e-5"], (1000, 4400): ["1000", "2000", "3000", "4000"],
            (-0.24, 0.1): ["-0.2", "-0.1", "0", "0.1"], (0, 2.4e6): ["0", "5e5", "1e6", "1.5e6", "2e6"],
        }  # fmt: skip
        for ends, wanted in scale.items():
            assert page.value(f"viewMarks({list(ends)}).map(one => one[1])") == wanted
        assert page.problems == []


@needs_chromium
def test_the_slider_and_the_choices_change_the_picture(out):
    pytest.importorskip("k3d")
    view.main([str(out)])
    pictures = []
    with browser.Browser() as page:
        page.open(out / "view.html")

        def shown(wanted):
            page.wait_for(f"!!document.body && document.body.dataset.shown === {wanted!r}")
            page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
            pictures.append(page.picture())

        def choose(name, value, event):
            page.value(f"(e => {{ e.value = {value!r}; e.dispatchEvent(new Event({event!r})); return 1; }})"
                       f"(document.getElementById({name!r}))")  # fmt: skip

        shown("0 speed")
        choose("frame", "3", "input")
        shown("3 speed")
        choose("field", "velocity_x", "change")
        shown("3 velocity_x")
        choose("slice", "x", "input")
        shown("3 velocity_x")
        page.value("document.getElementById('shade').click()")
        shown("3 velocity_x")
        page.value("document.getElementById('play').click()")
        page.wait_for("document.body.dataset.shown[0] !== '3'")
        assert page.value("document.getElementById('time').textContent").startswith("t = ")
        assert page.problems == []
    assert len(set(pictures)) == 5


def test_the_report_says_what_it_is_and_its_links_lead_somewhere(tmp_path):
    pytest.importorskip("plotly")
    text, left_out = report.page(RESULTS, output=tmp_path / "report.html")
    shown = text.partition("<script>")[0]
    links = re.findall(r'<a href="?([^">]+)', shown)
    assert len(links) > 20 and text.index("What <code>quadrat bench</code> has measured: ") < text.index("<section")
    for link in links:
        if link.startswith("#"):
            assert shown.count(f'id="{link[1:]}"') == 1, link
        else:
            assert (tmp_path / link).exists(), link
    data = json.loads(text.split('<script id="report-data" type="application/json">')[1].split("</script>")[0])
    for figure in data["figures"]:
        names = [panel["name"] for panel in figure["panels"]]
        assert "H200" in names[0] or not any("H200" in name for name in names), names


@pytest.mark.parametrize("name", ["model/ranks_run.json", "model/scaling.json"])
def test_a_file_that_is_no_result_is_named_with_what_it_lacks(name):
    with pytest.raises(ValueError, match=f"{name}: it has no meta and rows, as quadrat bench --json writes them"):
        report.read(RESULTS / name)


def test_the_papers_figures_are_drawn_from_the_committed_results():
    pytest.importorskip("plotly")
    results, left_out = report.read(RESULTS)
    # Counts of tests, and what a simulation of scaling went by and gave, are no tables of rows.
    names = [pathlib.Path(line.split(": ")[0]).relative_to(RESULTS).as_posix() for line in left_out]
    assert names == ["cpu/host_tests.json", "model/ranks_run.json", "model/scaling.json"]
    for paper in _papers.PAPERS:
        for figure in paper.figures:
            panels = report.panels_of(figure, results)
            assert panels, f"{paper.name}: {figure.title}"
            for series in panels.values():
                assert all(len(x) == len(y) > 0 for x, y in series.values())
    wave = report.panels_of(_papers.GRID.figures[1], results)[""]
    (row,) = [
        row for one in results if one.meta["topic"] == "granular" for row in one.rows
        if row.get("figure") == 2 and row["method"] == "fused" and row["n"] == 65536
    ]  # fmt: skip
    assert dict(zip(*wave["fused"]))[65536] == row["updates_per_s"]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["view", "nowhere"], "there is no nowhere"),
        (["view", "."], "holds no frames"),
        (["report", "nowhere"], "there is no nowhere"),
        (["plot", "nowhere.csv", "-o", "a.png"], "nowhere.csv"),
        (["frames", "nowhere", "-o", "a.gsd"], "there is no nowhere"),
    ],
)
def test_commands_end_with_one_line(arguments, words, tmp_path):
    for package in ("k3d", "plotly", "matplotlib", "gsd"):
        pytest.importorskip(package)
    command = [sys.executable, "-m", f"quadrat.{arguments[0]}", *arguments[1:]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
    assert done.stderr.startswith(f"quadrat.{arguments[0]}: ") and words in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named_with_its_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "k3d", None)
    with pytest.raises(ImportError, match=r'k3d is not installed; it comes with pip install "quadrat\[view\]"'):
        view.page(".")


def test_which_is_best_is_said_in_stretches():
    series = {"a": ([1, 2, 3], [1.0, 1.0, 3.0]), "b": ([2, 3, 4], [2.0, 2.0, 2.0])}
    assert report.leaders(series, more=False) == "a from 1 to 2, b from 3 to 4"
    assert report.leaders(series, more=True) == "a at 1, b at 2, a at 3, b at 4"


def test_files_without_results_are_left_out_by_name(tmp_path):
    pytest.importorskip("plotly")
    with pytest.raises(ValueError, match="holds no results"):
        report.page(tmp_path)
    (tmp_path / "good.json").write_text(
        '{"meta": {"topic": "x"}, "rows": [{"op": "a", "method": "</script><i>", "v": 1e999}, '
        '{"op": "b", "method": "c"}]}'
    )
    for name, text in [("cut.json", '{"meta": {'), ("list.json", "[]"), ("rows.json", '{"meta": {}, "rows": [1]}')]:
        (tmp_path / name).write_text(text)
    text, left_out = report.page(tmp_path)
    assert [pathlib.Path(line.split(": ")[0]).name for line in left_out] == ["cut.json", "list.json", "rows.json"]
    assert "None of these files" in text and "</script><i>" not in text


@needs_chromium
def test_the_report_s_plots_are_there_and_its_tables_sort(tmp_path):
    pytest.importorskip("plotly")
    report.main([str(RESULTS), "-o", str(tmp_path / "report.html")])
    with browser.Browser() as page:
        page.open(tmp_path / "report.html")
        count = int(page.wait_for("document.body && document.body.dataset.shown"))
        assert count == sum(len(paper.figures) for paper in _papers.PAPERS)
        page.wait_for(f"document.querySelectorAll('.plot .scatterlayer .trace').length > 3 * {count}")
        before = page.value("document.querySelector('.plot text').outerHTML")
        page.value("document.getElementById('shade').click()")
        assert page.value("document.querySelector('.plot text').outerHTML") != before
        file = "[...document.querySelectorAll('details')].find(one => one.textContent.includes('h200/granular.json'))"
        page.value(f"{file}.open = true")
        page.wait_for(f"!!{file}.querySelector('table')")
        head = f"[...{file}.querySelectorAll('th')].find(t => t.textContent.startsWith('median_ms'))"
        rows = f"[...{file}.querySelector('table').tBodies[0].rows]"
        column = f"(k => {rows}.map(row => row.cells[k].textContent))({head}.cellIndex)"
        click = f"{head}.click()"
        plain = page.value(column)
        for up in (True, False):
            page.value(click)
            values = [float(one.replace(",", "")) for one in page.value(column)]
            assert values == sorted(values, reverse=not up) and len(values) == len(plain)
        assert page.problems == []
