# SPDX-License-Identifier: BSD-3-Clause
"""The site that script/docs has built: links lead somewhere, and pages fit a wide and a narrow screen."""

import html.parser
import os
import pathlib
import sys
import urllib.parse

import blocks
import pytest

sys.path.append(str(blocks.ROOT / "tests" / "python"))
import browser  # noqa: E402

SITE = pathlib.Path(os.environ.get("QUADRAT_SITE", ""))
pytestmark = pytest.mark.skipif("QUADRAT_SITE" not in os.environ, reason="script/docs --check runs this test")
LOOKED_AT = ["index.html", "start/cpp.html", "replacing/index.html", "guides/mesh.html", "concepts/index.html", "papers/uniform-grid.html",
             "performance/measured.html", "performance/papers.html", "reference/cpp/search/neighbor_list.html", "reference/python.html",
             "reference/program.html", "troubleshooting.html"]  # fmt: skip


class Page(html.parser.HTMLParser):
    """Where a page links to, and the places in it that a link can name."""

    def __init__(self, file):
        super().__init__()
        self.links, self.places = [], {""}
        self.feed(file.read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places.update(given[key] for key in ("id", "name") if given.get(key))
        self.links += [given[key] for key in ("href", "src") if given.get(key)]


def test_every_link_leads_somewhere():
    files = {file: Page(file) for file in SITE.rglob("*.html")}
    count, broken = 0, []
    for file, page in files.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            place = urllib.parse.unquote(parts.fragment)
            if not target.is_file() or (target in files and place not in files[target].places):
                broken.append(f"{file.relative_to(SITE)}: {link}")
    assert count > 1000 and not broken, "\n".join(broken)


@pytest.mark.skipif(browser.PROGRAM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [1280, 400])
def test_pages_fit_the_screen(width):
    pictures = SITE.parent / "pictures"
    pictures.mkdir(exist_ok=True)
    with browser.Browser() as chromium:
        for name in LOOKED_AT:
            chromium.resize(width, 900)
            chromium.open(SITE / name)
            chromium.wait_for("document.readyState == 'complete' && document.querySelector('article') != null")
            assert chromium.value("document.documentElement.scrollWidth") <= width, f"{name} is wider than {width} pixels"
            (pictures / f"{name.replace('/', '_')}_{width}.png").write_bytes(chromium.picture())
