# SPDX-License-Identifier: BSD-3-Clause
"""The site's settings; script/docs builds it."""

import pathlib
import re
import sys
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

project = "Quadrat"
author = "the authors of Quadrat"
version = release = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
copyright = f"{author}; BSD-3-Clause"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "sphinx_copybutton"]
exclude_patterns = ["_site"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
root_doc = "index"
highlight_language = "text"

# Docstrings are read without the compiled module, and without the libraries whose arrays the package works on.
autodoc_mock_imports = ["ase", "k3d", "plotly", "gsd", "meshio"]
stand_in = unittest.mock.MagicMock()
stand_in.autograd.Function = object  # a class derives from it
stood_in = ("quadrat._core", "torch", "torch.autograd", "jax", "jax.numpy", "jax.custom_derivatives")
sys.modules.update({name: stand_in for name in stood_in})
napoleon_use_param = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
default_role = "code"

html_theme = "furo"
html_title = f"Quadrat {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
