"""Settings of the documentation site; `make docs` builds it, and nothing in it loads from a network."""

from pcn import __version__

project = "pcn"
author = "The pcn authors"
copyright = author
release = version = __version__

# Formulas are written in Unicode: MathJax would have to be loaded from a network.
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
# The repository's pages are coloured elsewhere, too: not every language there has a lexer here.
suppress_warnings = ["misc.highlighting_failure"]
# Docstrings are Markdown: one backtick is code.
default_role = "code"

# Pages are plain Markdown that also reads well in the repository.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# Notebooks are shown as they were executed and saved; `make notebooks` executes them again.
nb_execution_mode = "off"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"pcn {version}"
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


def setup(app):
    """Keep docstrings of fields as they are: napoleon takes the words before a colon for a type."""
    originals = {}

    def keep(app, what, name, obj, options, lines):
        if what in ("attribute", "property"):
            originals[name] = list(lines)

    def restore(app, what, name, obj, options, lines):
        lines[:] = originals.pop(name, lines)

    app.connect("autodoc-process-docstring", keep, priority=400)  # napoleon has 500
    app.connect("autodoc-process-docstring", restore, priority=600)
