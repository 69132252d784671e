"""The known values that the tests hold gamedp against: one row a figure, each with its source.

``FIGURES`` has them all, ``POSITIONS`` those that are the value of one position of a game.
"""

from typing import Any, Literal

import attrs

WUBBEL = '"Würfeln mit Wubbel", Eulenspiegel 45'
MATCHES = '"Gewinnstrategie für ein Streichholzspiel", 14. Algorithmus der Woche'
BOUTON = "C. L. Bouton, Annals of Mathematics 3 (1901)"
PIG = "T. Neller and C. Presser, The UMAP Journal 25 (2004)"


@attrs.frozen(kw_only=True)
class Figure:
    """A known value.

    Attributes
    ----------
    name : str
        Serves as the id of a test.
    value
        What is true, as far as anybody knows.
    tolerance : float
        How far off a number may be; 0 for what must be equal.
    source : str
        Where the question, and for a printed figure the answer, comes from.
    status : str
        ``printed``: in the source, and right. ``corrected``: in the source, and wrong there.
        ``not reproduced``: in the source, where nobody knows how it was counted. ``computed``: not
        in the source, but computed for it by at least two programs that share no code.
    note : str
        What the source says otherwise, or what else one must know.
    """

    name: str
    value: Any
    tolerance: float = 0.0
    source: str
    status: Literal["printed", "corrected", "not reproduced", "computed"]
    note: str = ""


@attrs.frozen(kw_only=True)
class Position(Figure):
    """The value of one position of a registered game, for the player to move.

    Attributes
    ----------
    game : str
        The game's name.
    parameters : dict
        Those that differ from the game's defaults.
    state : tuple
        The fields of the position.
    """

    game: str
    parameters: dict[str, Any] = attrs.Factory(dict)
    state: tuple[Any, ...]


POSITIONS = (
    Position(
        name="wubbel.P000",
        game="wubbel",
        state=(0, 0, 0, 0),
        value=0.537937288425229,
        tolerance=1e-15,
        source=WUBBEL,
        status="computed",
        note="the fixed point in 128-bit floating point",
    ),
    Position(
        name="wubbel.P(42,42,0)",
        game="wubbel",
        state=(0, 42, 42, 0),
        value=0.7015075418860249,
        tolerance=1e-15,
        source=WUBBEL,
        status="computed",
    ),
    Position(
        name="grace.P000",
        game="wubbel",
        parameters={"grace": True},
        state=(0, 0, 0, 0),
        value=0.5428903381442385,
        tolerance=1e-15,
        source=WUBBEL,
        status="computed",
        note="the variant with a grace point (Gnadenpunkt)",
    ),
    Position(
        name="grace.P(42,42,0)",
        game="wubbel",
        parameters={"grace": True},
        state=(0, 42, 42, 0),
        value=0.7051077003308542,
        tolerance=1e-15,
        source=WUBBEL,
        status="computed",
    ),
    Position(
        name="pig.P000",
        game="wubbel",
        parameters={"goal": 100, "busts": (1,)},
        state=(0, 0, 0, 0),
        value=0.5305927252737469,
        tolerance=1e-14,
        source=PIG,
        status="computed",
    ),
    *(
        Position(
            name=f"matches.GS[{left}]",
            game="matches",
            state=(0, left),
            value=-1.0 if answer == "N" else 1.0,
            source=MATCHES,
            status="printed",
        )
        for left, answer in enumerate("NJJJNJJJNJJJNJJJNJ", start=1)
    ),
)


FIGURES = (
    *POSITIONS,
    Figure(
        name="wubbel.0:24",
        value="RRRRRRRRRRRRRRRSSRRRSSSSSSSSSSSSSSSSSSSSSSSSRRRRR",
        source=WUBBEL,
        status="corrected",
        note="ROLL or SAVE for 1 to 49 points of the turn, own score 0, opponent's 24. The article "
        "has SAVE from 21 on without end; from 45 on it is ROLL again.",
    ),
    Figure(
        name="wubbel.0:24.margins",
        value={
            15: -0.001983170605626694,
            16: 0.0012702235002626794,
            17: 5.2650636780005033e-05,
            18: -0.002363175851028465,
            19: -0.0030095275919990727,
            20: -0.0009131456202666755,
            21: 0.0011207640437072564,
            22: 0.0032432945362695365,
            44: 0.020454013365269086,
            45: -0.0067221506604009384,
            46: -0.03128683896849305,
            47: -0.053153531806899856,
            48: -0.0724275089279357,
            49: -0.08930276472919263,
        },
        tolerance=1e-12,
        source=WUBBEL,
        status="computed",
        note="for some points of the turn, by how much SAVE is worth more than ROLL",
    ),
    Figure(
        name="wubbel.rows.nonmonotone",
        value={
            "ROLL above a SAVE": 632,
            "wubbel rows": [
                (0, 23),
                (0, 24),
                (1, 22),
                (1, 23),
                (2, 22),
                (5, 13),
                (7, 10),
                (8, 9),
                (9, 7),
                (10, 6),
                (11, 4),
                (12, 2),
                (13, 1),
            ],
            "ROLL throughout": 1736,
        },
        source=WUBBEL,
        status="computed",
        note="of the 2500 pairs of scores (own, opponent's): in how many a SAVE is followed by a "
        "ROLL at more points of the turn; in which even leaving out the last run of ROLLs; in how "
        "many nothing is ever saved. The article only says that there are such pairs.",
    ),
    Figure(
        name="wubbel.article_code",
        value={
            "change": 1e-8,
            "P000": 0.537937260216,
            "largest error": 2.29e-7,
            "wrong decisions": 0,
            "decisions": 61250,
            "sweeps": 149375,
            "evaluations": 15236250,
            "seconds": 0.064,
        },
        tolerance=1e-12,
        source=WUBBEL,
        status="printed",
        note="the article's listing, rewritten and run; it promises less than a second. Details "
        "depend on how the listing swaps its tables, which an equivalent program need not do.",
    ),
    Figure(
        name="grace.calls",
        value={
            49: 7,
            48: 107,
            47: 3261,
            46: 283559,
            45: 83653013,
            44: 91589847807,
            43: 375671665445229,
            42: 5871974611102322110,
        },
        source=WUBBEL,
        status="not reproduced",
        note="calls of the recursion without a table, the first and those of finished games "
        "included, for both scores at the key. The article gives 4169474 for 42.",
    ),
    Figure(
        name="contraction.weights",
        value={
            "first d'": [
                "1",
                "1/6",
                "7/36",
                "49/216",
                "343/1296",
                "2401/7776",
                "9031/46656",
                "55441/279936",
            ],
            "sum of all d'": 6,
            "sum of d' from 51": 0.265335780917776,
            "raised by": 0.00044222630152962667,
            "d'_50": 0.016292257414307627,
            "slack at 0": 0.04053741097354911,
            "factor": 0.9996297969875595,
            "slack": 0.0003702030124405561,
            "worst u": 8,
        },
        tolerance=1e-15,
        source=WUBBEL,
        status="corrected",
        note="The article leaves out primes in the recurrence; read as printed, the weights' sum "
        "diverges. With them all its inequalities hold.",
    ),
    Figure(
        name="contraction.optimal_factor",
        value={50: 0.9909066517181815, 51: 0.991492489147462},
        tolerance=1e-12,
        source=WUBBEL,
        status="computed",
        note="the least factor that any weights can give, by the number of positions in a turn",
    ),
    Figure(
        name="contraction.optimal_weights",
        value=[
            1.0,
            0.16809675160522533,
            0.19635326950545332,
            0.22935961627638604,
            0.26791422272186716,
            0.31294973327025144,
        ],
        tolerance=1e-12,
        source=WUBBEL,
        status="computed",
        note="the first of 51",
    ),
    Figure(
        name="contraction.pass",
        value=False,
        source=WUBBEL,
        status="corrected",
        note="Is the functional a contraction as printed, with a SAVE at no points? No: distances "
        "can grow by a factor of 1.79. Without that SAVE it is.",
    ),
    Figure(
        name="pig.41:49",
        value=[*range(22, 27), *range(28, 57)],
        source=PIG,
        status="computed",
        note="the points of the turn at which to save in Pig, own score 41, opponent's 49",
    ),
    Figure(
        name="matches.GS",
        value="NJJJNJJJNJJJNJJJNJ",
        source=MATCHES,
        status="printed",
        note="can the player to move force a win with 1, 2, ..., 18 matches?",
    ),
    Figure(
        name="matches.sample_game",
        value=[
            # left before, taken, winning takes
            (18, 1, (1,)),
            (17, 2, ()),
            (15, 2, (2,)),
            (13, 3, ()),
            (10, 1, (1,)),
            (9, 2, ()),
            (7, 2, (2,)),
            (5, 1, ()),
            (4, 3, (3,)),
            (1, 1, ()),
        ],
        source=MATCHES,
        status="printed",
        note="the brother begins, and each of his takes is the only one that wins",
    ),
    *(
        Figure(
            name=f"nim.bouton.{heaps}x{largest}",
            value={"heaps": heaps, "largest": largest, "losing": losing},
            source=BOUTON,
            status="computed",
            note="how many of the ordered positions with so many heaps, none larger, are lost for "
            "the player to move; as many under misère as under normal play. The article only says "
            "that there is a closed form.",
        )
        for heaps, largest, losing in ((1, 7, 1), (2, 7, 8), (3, 7, 64), (4, 5, 168))
    ),
)

BY_NAME = {figure.name: figure for figure in FIGURES}
