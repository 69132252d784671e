"""What the cells of the pages return, kept in the pages for those who read them as files.

Building the documentation executes the cells and leaves these results out; then

    python docs/results.py _build/jupyter_execute            # are those in the pages still right?
    python docs/results.py _build/jupyter_execute --write    # put them into the pages

compare with what the build has left in that folder: words must be the same, and numbers up to
rounding. Spaces and lines are not compared: where a cell is slow, MyST-NB receives what it prints
in pieces and breaks the line where one ends, and a bar that was shown leaves an empty line. A
result below `<!-- result, varies -->` is one of many, such as a time; only that it is there is
checked.
"""

import json
import math
import re
import sys
from difflib import unified_diff
from pathlib import Path

DOCS = Path(__file__).parent

CELL = re.compile(r"^```\{code-cell\}.*?^```\n", flags=re.DOTALL | re.MULTILINE)
RESULT = re.compile(r"\n<!-- result(, varies)? -->\n```text\n(.*?)^```\n", re.DOTALL | re.MULTILINE)

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""Difference of two numbers that are taken for the same."""

FOLDERS = {
    "/tmp/": re.compile(r"(?:/[\w.-]+)*/tmp\w{8}/"),  # noqa: S108 - it is shown, not used
    "cell.py": re.compile(r"(?:[\w.-]*/)*ipykernel_\d+/\d+\.py"),
    "~/.cache/gamedp/solutions/": re.compile(r"(?:/[\w.-]+)+/solutions/"),
}
"""Folders that have another name on each machine, and what is shown of them."""

MOST_LINES = 40
"""Lines of a result that are shown."""


def without_results(page: str) -> str:
    """Return a page without the results of its cells."""
    return RESULT.sub("", page)


def text_of(cell: dict) -> str:
    """Return what a cell of a notebook has printed and returned, as far as it is text."""
    parts = []
    printed: dict[str, str] = {}
    for output in cell["outputs"]:
        data = output.get("data", {})
        if output["output_type"] == "stream":
            # What is printed comes in as many pieces as it happens to. MyST-NB's `merge_streams`
            # adds the later ones to the first, and leaves them where they were.
            name, text = output["name"], "".join(output["text"])
            if name not in printed:
                printed[name] = text
                parts.append(text)
        elif not any(kind.startswith("image/") for kind in data):
            parts.append("".join(data.get("text/plain", [])))
    text = "\n".join(parts)
    for shown, folder in FOLDERS.items():
        text = folder.sub(shown, text)
    lines = [line.rstrip() for line in text.splitlines()]
    lines = [line for line in lines if not line.startswith("<IPython.core.display.")]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = ["..."]
    return "".join(f"{line}\n" for line in lines).strip("\n")


def results_of(notebook: Path) -> list[str]:
    """Return the results of an executed notebook, cell by cell."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [text_of(cell) for cell in cells if cell["cell_type"] == "code"]


def with_results(page: str, results: list[str], vary: set[int]) -> str:
    """Return a page with the results of its cells; `vary` has the numbers of those that differ."""
    numbers = iter(range(len(results)))

    def add(cell: re.Match[str]) -> str:
        number = next(numbers)
        if not results[number]:
            return cell[0]
        kind = "result, varies" if number in vary else "result"
        return f"{cell[0]}\n<!-- {kind} -->\n```text\n{results[number]}\n```\n"

    return CELL.sub(add, without_results(page))


def are_the_same(kept: str, found: str) -> bool:
    """Return whether two results have the same words, and the same numbers up to rounding."""
    kept, found = " ".join(kept.split()), " ".join(found.split())
    pairs = zip(NUMBER.findall(kept), NUMBER.findall(found), strict=False)
    return NUMBER.split(kept) == NUMBER.split(found) and all(
        math.isclose(float(one), float(other), rel_tol=RELATIVE, abs_tol=ABSOLUTE)
        for one, other in pairs
    )


def refreshed(page: str, results: list[str], *, write: bool) -> str:
    """Return a page with results; a check lets those be that vary or are still the same."""
    shown, vary = list(results), set()
    for number, cell in enumerate(CELL.finditer(page)):
        kept = RESULT.match(page, cell.end())
        if kept is None:
            continue
        varies, text = bool(kept[1]), kept[2].rstrip("\n")
        if varies:
            vary.add(number)
        if (varies and results[number] and not write) or are_the_same(text, results[number]):
            shown[number] = text
    return with_results(page, shown, vary)


def main(folder: Path, *, write: bool) -> None:
    """Write results into the pages, or end with the names of those that are out of date."""
    stale: dict[Path, list[str]] = {}
    for notebook in sorted(folder.rglob("*.ipynb")):
        path = DOCS / notebook.relative_to(folder).with_suffix(".md")
        page, results = path.read_text(encoding="utf-8"), results_of(notebook)
        count = len(CELL.findall(page))
        if count != len(results):
            sys.exit(f"{path} has {count} cells, and {len(results)} were executed.")
        fresh = refreshed(page, results, write=write)
        if fresh != page:
            name = str(path.relative_to(DOCS))
            stale[path] = list(
                unified_diff(page.splitlines(), fresh.splitlines(), name, "executed", lineterm="")
            )
            if write:
                path.write_text(fresh, encoding="utf-8")
    if stale and not write:
        pages = ", ".join(str(path.relative_to(DOCS)) for path in stale)
        lines = [line for difference in stale.values() for line in difference]
        lines += [f"Out of date are the results of cells in {pages}; docs/results.py writes them."]
        sys.exit("\n".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]), write="--write" in sys.argv[2:])
