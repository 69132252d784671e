"""The table that the examples print: an article's figures beside those that gamedp computes.

It is not an example of its own.
"""

import sys
import textwrap

WIDTHS = (44, 20, 20, 10)


class Comparison:
    """Rows are printed as they come; :meth:`finish` ends the script, with 1 if one was wrong."""

    def __init__(self, article):
        self.wrong = []
        print(f'"{article}"\n')
        self._print("", "article", "gamedp", "")
        self._print(*("-" * width for width in WIDTHS))

    def agrees(self, figure, article, computed):
        """Print a figure of the article's that must come out."""
        self._row(figure, article, computed, article == computed, "agrees")

    def holds(self, figure, article, computed, truth):
        """Print a claim of the article's about a figure, and whether it is true."""
        self._row(figure, article, computed, truth, "agrees")

    def known(self, figure, known, computed, tolerance=0.0):
        """Print what the article does not, and other programs or a theorem have told before."""
        right = abs(computed - known) <= tolerance if tolerance else computed == known
        self._row(figure, "-", computed, right, "as known")

    def differs(self, figure, article, computed, known, why):
        """Print a figure of the article's that does not come out, as is known, and say why."""
        self._row(figure, article, computed, computed == known, "differs")
        self.remark(why)

    @staticmethod
    def remark(text):
        """Print a remark on the row above."""
        print(textwrap.indent(textwrap.fill(text, 90), "    | "))

    @staticmethod
    def picture(text):
        """Print a drawing that belongs to the row above."""
        print(textwrap.indent(text, "    | "))

    def finish(self):
        """Say whether all came out as it must, and end the script."""
        if self.wrong:
            sys.exit(f"\nNot as it must be: {'; '.join(self.wrong)}.")
        print("\nEverything came out as it must.")

    def _row(self, figure, article, computed, right, verdict):
        if not right:
            self.wrong.append(figure.strip())
        self._print(figure, article, computed, verdict if right else "WRONG")

    @staticmethod
    def _print(*cells):
        padded = (f"{cell!s:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True))
        print("  ".join(padded).rstrip())
