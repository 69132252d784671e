"""Makes the examples in the README, the documentation and the docstrings run as tests.

They are collected when their files are named, as in `pytest README.md docs src`; the suite in
`tests` does not include them.
"""

from doctest import ELLIPSIS, NORMALIZE_WHITESPACE

import sybil
from sybil.parsers import markdown, rest

FLAGS = ELLIPSIS | NORMALIZE_WHITESPACE

_pages = sybil.Sybil(
    parsers=[markdown.PythonCodeBlockParser(doctest_optionflags=FLAGS), markdown.SkipParser()],
    patterns=["*.md"],
    name="pages",
)
_docstrings = sybil.Sybil(
    parsers=[rest.DocTestParser(FLAGS), rest.SkipParser()],
    path="src",
    patterns=["*.py"],
    document_types={".py": sybil.document.PythonDocStringDocument},
    name="docstrings",
)

pytest_collect_file = (_pages + _docstrings).pytest()
