"""The known values that the tests hold gamedp against: one row a figure, each with its source.

``FIGURES`` has them all, ``POSITIONS`` those that are the value of one position of a game.
"""

from typing import Any, Literal

import attrs

WUBBEL = '"Würfeln mit Wubbel", Eulenspiegel 45'
MATCHES = '"Gewinnstrategie für ein Streichholzspiel", 14. Algorithmus der Woche'
KNIFFEL = '"Über das perfekte Kniffel-Spiel", Felix Holderied, 1999 to 2014'
MANCALA = '"Eine Strategie für Mancala", Matthias Rosin'
KALAH = "G. Irving, J. Donkers and J. Uiterwijk, ICGA Journal 23 (2000)"
BOUTON = "C. L. Bouton, Annals of Mathematics 3 (1901)"
PIG = "T. Neller and C. Presser, The UMAP Journal 25 (2004)"


MANCALA_VALUES = {
    # pits and stones a pit: what each first move is worth, without and with the majority stop
    (2, 1): ([-2, 0], [-2, 0]),
    (2, 2): ([-4, 0], [-4, 0]),
    (2, 3): ([6, 2], [5, 2]),
    (3, 1): ([0, -2, 0], [0, -2, 0]),
    (3, 2): ([-2, -2, 0], [-3, -2, 0]),
    (3, 3): ([-4, -2, -4], [-4, -2, -4]),
    (4, 1): ([0, 0, -2, 0], [0, 0, -2, 0]),
    (4, 2): ([0, -4, -2, 0], [0, -6, -2, 0]),
}


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


def full_board(pits: int, stones: int) -> tuple[Any, ...]:
    """Return the fields of the first position of Mancala."""
    width = (2 * pits * stones).bit_length()
    side = sum(stones << width * pit for pit in range(pits))
    return 0, (side, side)


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
            name=f"mancala.{pits}x{stones}{'.stop' if stop else ''}",
            game="mancala",
            parameters={"pits": pits, "stones": stones, "majority_stop": stop},
            state=full_board(pits, stones),
            value=float(max(values)),
            source=MANCALA,
            status="computed",
        )
        for (pits, stones), both in MANCALA_VALUES.items()
        for stop, values in zip((False, True), both, strict=True)
        if pits * stones <= 6
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
    Figure(
        name="mancala.values",
        value=MANCALA_VALUES,
        source=MANCALA,
        status="computed",
        note="the difference of the stones for the first player, by perfect play; with the stop it "
        "is another one now and then, but never of another sign",
    ),
    Figure(
        name="mancala.reachable",
        value={
            # pits, stones, majority stop: positions, those where the game is over, moves, boards
            (1, 1, True): (3, 1, 2, 3),
            (1, 1, False): (3, 1, 2, 3),
            (1, 2, True): (2, 1, 1, 2),
            (1, 2, False): (2, 1, 1, 2),
            (1, 3, True): (4, 1, 3, 4),
            (1, 3, False): (4, 1, 3, 4),
            (2, 1, True): (18, 5, 18, 17),
            (2, 1, False): (18, 5, 18, 17),
            (2, 2, True): (27, 7, 27, 24),
            (2, 2, False): (28, 7, 28, 24),
            (2, 3, True): (240, 45, 268, 126),
            (2, 3, False): (255, 46, 284, 126),
            (3, 1, True): (330, 55, 408, 180),
            (3, 1, False): (332, 55, 410, 180),
            (3, 2, True): (4950, 450, 7721, 1541),
            (3, 2, False): (5110, 382, 8003, 1541),
            (3, 3, True): (37159, 1969, 68693, 8569),
            (3, 3, False): (38331, 1336, 71314, 8569),
            (4, 1, True): (6331, 496, 10626, 2623),
            (4, 1, False): (6377, 484, 10695, 2623),
            (4, 2, True): (384221, 9515, 875357, 80871),
            (4, 2, False): (387821, 6878, 885489, 80871),
        },
        source=MANCALA,
        status="computed",
        note="positions that can come up, players and kalahs told apart; boards are seen by the "
        "mover, kalahs apart",
    ),
    Figure(
        name="mancala.perft",
        value={
            3: [6, 36, 183, 939, 4422, 21121, 96402],
            4: [6, 36, 186, 973, 4823, 24142, 116671],
            6: [6, 36, 195, 1090, 5839, 31596, 168186],
        },
        source=MANCALA,
        status="computed",
        note="by stones a pit: in how many ways 1, 2, ..., 7 moves can be made from the start with "
        "six pits; no game has ended by then",
    ),
    Figure(
        name="mancala.minimax",
        value={
            3: [
                [0, 0, 0, 1, 1, 1],
                [-1, -1, -1, 0, 0, 0],
                [0, 0, 0, 1, 1, 1],
                [-2, -1, -1, 0, 0, 0],
                [-1, 0, 0, 1, 1, 1],
                [-2, -2, -1, 0, 0, 0],
                [-1, -1, 0, 1, 1, 1],
            ],
            4: [
                [0, 0, 1, 1, 1, 1],
                [-1, -1, 0, 0, 0, 0],
                [0, 0, 1, 1, 1, 1],
                [-2, -2, 0, 0, 0, 0],
                [-1, -1, 1, 1, 1, 1],
                [-3, -2, -1, 0, -1, 0],
                [-1, -1, 1, 1, 0, 1],
            ],
            6: [
                [1, 1, 1, 1, 1, 1],
                [0, 0, 0, 0, 0, 0],
                [1, 1, 1, 1, 1, 1],
                [-1, -1, -1, -1, -1, -2],
                [1, 2, 2, 2, 1, -1],
                [-1, -1, -2, -2, -3, -3],
                [1, 1, 2, 1, 0, 0],
            ],
        },
        source=MANCALA,
        status="computed",
        note="by stones a pit: what each first move is worth to who makes it, when 1, 2, ..., 7 "
        "moves are looked ahead and the difference of the kalahs is the value then",
    ),
    Figure(
        name="mancala.bound",
        value={"depth": 4, "positions": 1554, "stones 3": 1164, "stones 4": 1201},
        source=MANCALA,
        status="printed",
        note="no more positions than this are visited by looking four moves ahead; so many are "
        "with three and with four stones a pit",
    ),
    Figure(
        name="mancala.article_claim",
        value={"stones": 1, "value": 0.0, "reachable": 2_022_059},
        source=MANCALA,
        status="corrected",
        note="The article says that strategies for up to three stones a pit are known that "
        "guarantee a win. Six pits with one stone each are a draw, and so are those with two and "
        "three; these are too many positions to list.",
    ),
    Figure(
        name="kalah.solved",
        value={1: "DLWLWD", 2: "WLLLWW", 3: "DWWW", 4: "WW"},
        source=KALAH,
        status="computed",
        note="by pits: does the first player win or lose Kalah with 1, 2, ... stones a pit, or is "
        "it a draw; a corner of what the paper is about, each of it solved here as a whole",
    ),
    *(
        Figure(
            name=f"kniffel.state.{number}",
            value=value,
            tolerance=1e-9,
            source=KNIFFEL,
            status="computed" if printed == "?" else "printed",
            note=f"what is still to come on the sheet with this number; printed is {printed}",
        )
        for number, printed, value in (
            (0, "245,90", 245.90472837071954),
            (1, "?", 247.75474783792296),
            (2, "?", 249.5376112505679),
            (64, "229,98", 229.98361942171172),
            (65, "231,71", 231.71275900789564),
            (134, "234,75", 234.74886460383902),
            (2072, "237,09", 237.08980891894396),
            (128679, "88,45", 88.45221173673667),
            (524286, "0", 0.0),
            (524287, "35", 35.0),
        )
    ),
    Figure(
        name="kniffel.E0",
        value=245.90472837071954,
        tolerance=1e-9,
        source=KNIFFEL,
        status="printed",
        note="245,9 there, 245.904728 on the author's English page. The rules leave open whether a "
        "Kniffel counts as a Full House; only if it does the printed numbers come out: without it "
        "is 245.870774514, as in the literature.",
    ),
    Figure(
        name="kniffel.encoding",
        value={
            0: "0000000000000 000000",
            1: "0000000000000 000001",
            2: "0000000000000 000010",
            64: "0000000000001 000000",
            65: "0000000000001 000001",
            134: "0000000000010 000110",
            2072: "0000000100000 011000",
            128679: "0011111011010 100111",
            524286: "1111111111111 111110",
            524287: "1111111111111 111111",
        },
        source=KNIFFEL,
        status="printed",
        note="the number of a sheet in binary digits: which boxes are filled, Chance first and "
        "Einser last, and the points in the upper part, 63 at most",
    ),
    Figure(
        name="kniffel.states",
        value={
            "sheets": 2**13 * 64,
            "bytes": 4_194_304,
            "cards": 201_721_916_592,
            "reachable": 357_632,
        },
        source=KNIFFEL,
        status="printed",
        note="the article's table, and the size of its file; cards that differ in any entry, of "
        "which it says that there are more than 100 milliards; and, which it does not say, how "
        "many of the sheets can be reached",
    ),
    Figure(
        name="kniffel.only",
        value={
            "situation": "0 0 0 0 0 0 0 0 0 0 0 - 0 0",
            "value": 2.30143212628495,
            "chance": 0.046028642525699,
        },
        tolerance=1e-9,
        source=KNIFFEL,
        status="printed",
        note="2,301432 points, and 4,60% for a Kniffel in three throws",
    ),
    Figure(
        name="kniffel.grosse",
        value={"situation": "0 0 0 0 0 0 0 0 0 0 - 0 0 0", "chance": 0.2610950167341143},
        tolerance=1e-9,
        source=KNIFFEL,
        status="printed",
        note="26,11% for a Große Straße in three throws",
    ),
    Figure(
        name="kniffel.erwartung",
        value={"situation": "- 8 - 16 15 - 15 9 25 30 40 - - 0", "value": 246.45221173673667},
        tolerance=1e-9,
        source=KNIFFEL,
        status="printed",
        note="246.5 there: the sum of the card, 158, and what is still to come",
    ),
    Figure(
        name="kniffel.query.13345",
        value={
            "situation": "- 8 - 16 15 - 15 9 25 30 40 - - 3 13345",
            "value": 239.713069101,
            "rests": {
                "Dreier": 81.713069101,
                "Einser": 80.187854266,
                "Kniffel": 78.554160856,
                "Chance": 75.450255736,
                "Sechser": 41.168690535,
            },
        },
        tolerance=1e-9,
        source=KNIFFEL,
        status="printed",
        note="what is still to come after each entry, its points included; the article prints the "
        "best one, Dreier, and with the 158 points of the card 239.713069",
    ),
    Figure(
        name="kniffel.handicap.11456",
        value={
            "situation": "- 8 - 16 15 - 15 9 25 30 40 - - 1 11456",
            "rests": {
                "6": 86.833480722,
                "11": 85.965259301,
                "16": 85.936337061,
                "116": 85.933147139,
            },
            "printed": 4.709,
            "loss of 11": 0.868221421,
        },
        tolerance=1e-9,
        source=KNIFFEL,
        status="printed",
        note="The article keeps 11 where 6 is best. Its handicap of 4.709 is that of the game so "
        "far, whose earlier rounds it does not show; they must have lost 3.841.",
    ),
    Figure(
        name="kniffel.11336",
        value={
            "situation": "- 8 - 16 15 - 15 9 25 30 40 - - 2 11336",
            "rests": {"33": 84.659641926, "336": 83.841159369},
        },
        tolerance=1e-9,
        source=KNIFFEL,
        status="printed",
        note="the article prints that 33 is best",
    ),
    Figure(
        name="kniffel.11245.first",
        value={
            "situation": "- - - - - - - - - - - - - 1 11245",
            "rests": {
                "245": 242.350641387,
                "5": 242.287999318,
                "45": 242.284362094,
                "4": 242.206667963,
            },
        },
        tolerance=1e-9,
        source=KNIFFEL,
        status="printed",
        note="the article prints that 245 is best after the first throw",
    ),
    Figure(
        name="kniffel.11245.second",
        value={
            "situation": "- - - - - - - - - - - - - 2 11245",
            "rests": {"11": 238.001772321, "245": 237.803326922, "4": 237.743188729},
        },
        tolerance=1e-9,
        source=KNIFFEL,
        status="printed",
        note="the article prints that 11 is best after the second throw",
    ),
    Figure(
        name="kniffel.sheet_sums",
        value={
            "1 8 9 16 20 18 21 0 25 30 0 0 24": 207,
            "0 6 9 12 15 18 26 26 0 30 40 50 17": 249,
            "- 8 - 16 15 - 15 9 25 30 40 - -": 158,
        },
        source=KNIFFEL,
        status="printed",
    ),
    Figure(
        name="kniffel.two_dice",
        value={
            "a priori": (5290, 81),
            "after the first throw": [(490, 9), (490, 9), 70, (490, 9), 70, 90],
            "after the first keep": [(490, 9), (140, 3), (140, 3), 70, 40, 40, 60, 40, 60, 90],
            "after the second throw": [40, 40, 60, 40, 60, 90],
            "after the second keep": [40, 20, 40, 60, 10, 20, 30, 40, 60, 90],
            "after the third throw": [10, 20, 30, 40, 60, 90],
        },
        source=KNIFFEL,
        status="printed",
        note="two dice with three faces, ten times their product, three throws: the table E as "
        "fractions, throws in the order 11, 12, 13, 22, 23, 33, keeps nothing and single dice "
        "first. The article prints two digits, and 65,31 for the start.",
    ),
)

BY_NAME = {figure.name: figure for figure in FIGURES}
