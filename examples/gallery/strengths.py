"""Who is stronger.

Strengths on a simplex from who beat whom, alone or in teams, by `PairedComparison`:
means with 50 % and 90 % intervals.
"""

import sys

from orthodrome import PairedComparison
from orthodrome.plots import plot_strengths

GAMES = {
    "winners": ["ann bob", "cat", "ann", "eve", "dan eve", "bob"],
    "losers": ["cat dan", "bob dan", "dan", "cat", "ann bob", "cat"],
    "count": [9, 4, 8, 3, 2, 5],
}


def figure():
    return plot_strengths(
        PairedComparison(concentration=1.0, num_warmup=200, num_draws=300).fit(GAMES)
    )


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
