"""Texts of the adviser, in German and in English."""

from __future__ import annotations

import attrs

__all__ = ["WORDS", "Words"]


@attrs.frozen(kw_only=True)
class Words:
    """All texts in one language; fields in braces are filled in."""

    throw: str
    throw_again: str
    keep: str
    enter: str
    best_keep: str
    best_entry: str
    query: str
    query_keep: str
    query_entry: str
    query_value: str
    query_bounds: str
    keeps_head: tuple[str, ...]
    entries_head: tuple[str, ...]
    both_cards: tuple[str, str]
    reaches: str
    wins: str
    wins_between: str
    plays_for: dict[str, str]
    is_next: str
    draw: str
    between: str
    exact_takes: str
    nothing_depends: str
    better_for_points: str
    goal_heads: dict[str, str]
    more: str
    welcome: str
    seed: str
    help: str
    no_throw: str
    lacks: str
    no_keep: str
    no_box: str
    not_allowed: str
    not_saved: str
    nothing_to_decide: str
    nothing_to_undo: str
    expected: str
    left: str
    saved: str
    saved_whole: str
    result: str
    balance: str
    report_rows: tuple[str, ...]
    report_end: str
    rounds_head: tuple[str, ...]
    mistakes_head: tuple[str, ...]
    mistakes: str
    no_mistakes: str
    player: str
    to_move: str
    points_of_both: str
    winner: str
    no_winner: str
    for_points: str
    too_early: str
    chance: str
    chance_alone: str
    throws: tuple[str, str]


WORDS = {
    "de": Words(
        throw="{number}. Wurf: ",
        throw_again="{number}. Wurf, {kept} liegt: ",
        keep="{number}. Wurf: {dice} Auswahl: ",
        enter="{number}. Wurf: {dice} Wohin: ",
        best_keep="Beste Auswahl:    {best:<14} Handicap: {handicap:.3f}",
        best_entry="Bester Eintrag:   {best:<14} Handicap: {handicap:.3f}",
        query="{number}. Wurf: {dice}",
        query_keep="Beste Auswahl: {best}",
        query_entry="Bester Eintrag: {best}",
        query_value="Punkterwartung: {value:.6f}",
        query_bounds="Bewiesen: {lower!r} bis {upper!r}",
        keeps_head=("Auswahl", "Erwartung", "Verlust"),
        entries_head=("Eintrag", "Punkte", "Erwartung", "Verlust"),
        both_cards=("Deine Karte", "Die des Gegners"),
        reaches="Wahrscheinlichkeit von mindestens {total} Punkten: {value:.6f}",
        wins="Gewinnwahrscheinlichkeit: {value:.6f}",
        wins_between="Gewinnwahrscheinlichkeit: mindestens {lower:.6f}, höchstens {upper:.6f}",
        plays_for={
            "points": "Der Gegner spielt auf Punkte",
            "victory": "Der Gegner spielt auf Sieg",
        },
        is_next=", und als nächster",
        draw="; ein Unentschieden zählt {draw:g}.",
        between=(
            "Das Mindeste erreicht, wer jedes Mal dem Rat folgt; mehr als das Höchste erreichte\n"
            "nicht einmal, wer das Ergebnis des Gegners schon wüsste."
        ),
        exact_takes=(
            "--exact löst die letzten Runden genau: eine Tabelle von {size.contexts:,} Ständen,\n"
            "etwa {size.gigabytes:.1f} GB und {size.seconds:,.0f} Sekunden."
        ),
        nothing_depends="Keine Entscheidung ändert etwas daran.",
        better_for_points="Für die Punkte besser: {best}, Erwartung {value:.3f} statt {mine:.3f}",
        goal_heads={
            "keep": "Auswahl",
            "entry": "Eintrag",
            "points": "Punkte",
            "wins": "gewinnt",
            "reaches": "erreicht",
            "upper": "höchstens",
            "loss": "Verlust",
            "expected": "Erwartung",
        },
        more="... und {count} weitere",
        welcome="Kniffel: ? rät, h hilft, z nimmt zurück, q hört auf.",
        seed="Würfel, die nicht eingegeben werden, fallen nach --seed {seed}.",
        help=(
            "Beim Wurf: die Augen aller Würfel, etwa 13345, oder nur der neu geworfenen;\n"
            "           eine leere Zeile lässt würfeln.\n"
            "Bei der Auswahl: die Würfel, die liegen bleiben, etwa 33; - für keinen, + für alle;\n"
            "           oder ein Feld mit seinem Namen, um gleich einzutragen.\n"
            "Beim Eintrag: der Name oder die Nummer des Feldes.\n"
            "Immer:     ? Rat, ! die beste Entscheidung treffen, k Karte, z zurück, q Ende, h Hilfe"
        ),
        no_throw="{text!r} ist kein Wurf: {missing} Würfel mit 1 bis 6 Augen, etwa {example}.",
        lacks="Liegen geblieben ist {kept}: das muss im Wurf {text!r} vorkommen.",
        no_keep="{text!r} ist nicht im Wurf {dice}; - wirft alle Würfel neu, + behält alle.",
        no_box="{text!r} ist kein Feld; frei: {free}.",
        not_allowed="{dice} darf nicht bei {text} stehen; erlaubt: {free}.",
        not_saved="Die Partie wurde nicht gespeichert ({reason}); sie geht trotzdem weiter.",
        nothing_to_decide="Hier ist nichts zu entscheiden: erst wird geworfen.",
        nothing_to_undo="Es gibt nichts zurückzunehmen.",
        expected="Punkterwartung: {value:.3f}",
        left="Abgebrochen in Runde {round}, Handicap bisher: {handicap:.3f}.",
        saved="Die Partie steht in {file}; --record {file} setzt sie fort.",
        saved_whole="Die Partie steht in {file}; --analyse {file} nimmt sie auseinander.",
        result="Ergebnis: {total} Punkte.",
        balance=(
            "Erwartung am Anfang {start:.3f}, Glück {luck:+.3f}, Handicap {handicap:.3f}: {now:.3f}"
        ),
        report_rows=("Erwartung am Anfang", "Glück der Würfe", "Handicap", "Erwartung jetzt"),
        report_end="Ergebnis",
        rounds_head=("Runde", "Spiel", "Eintrag", "Punkte", "Glück", "Verlust"),
        mistakes_head=("Runde", "Wurf", "Würfel", "gespielt", "besser", "Verlust"),
        mistakes="Verluste, der größte zuerst:",
        no_mistakes="Jede Entscheidung war die beste.",
        player="Spieler {number}",
        to_move="am Zug",
        points_of_both="Spieler 1: {first} Punkte, Spieler 2: {second} Punkte.",
        winner="{player} gewinnt.",
        no_winner="Unentschieden.",
        for_points="Nach Punkten: {line}",
        too_early=(
            "Um auf Sieg zu rechnen, sind noch zu viele Felder frei (--max-contexts); nach Punkten:"
        ),
        chance="{box} in {throws}: {percent:.2f} %",
        chance_alone="Das erreicht, wer in einem Zug auf nichts anderes spielt.",
        throws=("1 Wurf", "{number} Würfen"),
    ),
    "en": Words(
        throw="Throw {number}: ",
        throw_again="Throw {number}, {kept} kept: ",
        keep="Throw {number}: {dice} Keep: ",
        enter="Throw {number}: {dice} Enter in: ",
        best_keep="Best keep:        {best:<14} Handicap: {handicap:.3f}",
        best_entry="Best entry:       {best:<14} Handicap: {handicap:.3f}",
        query="Throw {number}: {dice}",
        query_keep="Best keep: {best}",
        query_entry="Best entry: {best}",
        query_value="Expected points: {value:.6f}",
        query_bounds="Proven: {lower!r} to {upper!r}",
        keeps_head=("keep", "expected", "loss"),
        entries_head=("entry", "points", "expected", "loss"),
        both_cards=("Your card", "The opponent's"),
        reaches="Probability of at least {total} points: {value:.6f}",
        wins="Probability of winning: {value:.6f}",
        wins_between="Probability of winning: at least {lower:.6f}, at most {upper:.6f}",
        plays_for={
            "points": "The opponent plays for points",
            "victory": "The opponent plays to win",
        },
        is_next=", and is next to move",
        draw="; a draw counts {draw:g}.",
        between=(
            "The least is reached by taking the advice each time; more than the most could not be\n"
            "reached even by one who knew the opponent's result beforehand."
        ),
        exact_takes=(
            "--exact solves the last rounds exactly: a table of {size.contexts:,} contexts,\n"
            "about {size.gigabytes:.1f} GB and {size.seconds:,.0f} seconds."
        ),
        nothing_depends="No decision changes that.",
        better_for_points="Better for points: {best}, {value:.3f} expected, not {mine:.3f}",
        goal_heads={
            "keep": "keep",
            "entry": "entry",
            "points": "points",
            "wins": "wins",
            "reaches": "reaches",
            "upper": "at most",
            "loss": "loss",
            "expected": "expected",
        },
        more="... and {count} more",
        welcome="Kniffel: ? advises, h helps, u undoes, q quits.",
        seed="Dice that are not typed in fall by --seed {seed}.",
        help=(
            "At a throw: the faces of all dice, such as 13345, or of those just thrown;\n"
            "            an empty line throws for you.\n"
            "At a keep:  the dice that stay on the table, such as 33; - for none, + for all;\n"
            "            or the name of a box, to make the entry at once.\n"
            "At an entry: the name or the number of the box.\n"
            "Any time:   ? advice, ! take the best decision, k card, u undo, q quit, h help"
        ),
        no_throw="{text!r} is not a throw: {missing} dice with faces 1 to 6, such as {example}.",
        lacks="{kept} stayed on the table: the throw {text!r} must have these dice.",
        no_keep="{text!r} is not in the throw {dice}; - throws all dice again, + keeps all.",
        no_box="{text!r} is not a box; free: {free}.",
        not_allowed="{dice} must not go to {text}; allowed: {free}.",
        not_saved="The game could not be saved ({reason}); it goes on all the same.",
        nothing_to_decide="There is nothing to decide here: first comes the throw.",
        nothing_to_undo="There is nothing to undo.",
        expected="Expected points: {value:.3f}",
        left="Left in round {round}, handicap so far: {handicap:.3f}.",
        saved="The game is in {file}; --record {file} goes on with it.",
        saved_whole="The game is in {file}; --analyse {file} analyses it.",
        result="Result: {total} points.",
        balance=(
            "Expected at first {start:.3f}, luck {luck:+.3f}, handicap {handicap:.3f}: {now:.3f}"
        ),
        report_rows=("Expected at the start", "Luck of the throws", "Handicap", "Expected now"),
        report_end="Result",
        rounds_head=("round", "play", "entry", "points", "luck", "loss"),
        mistakes_head=("round", "throw", "dice", "played", "better", "loss"),
        mistakes="Losses, the largest first:",
        no_mistakes="Every decision was the best one.",
        player="Player {number}",
        to_move="to move",
        points_of_both="Player 1: {first} points, player 2: {second} points.",
        winner="{player} wins.",
        no_winner="A draw.",
        for_points="For points: {line}",
        too_early=("Too many boxes are free to advise how to win (--max-contexts); for points:"),
        chance="{box} in {throws}: {percent:.2f} %",
        chance_alone="This is for one turn in which nothing else is wanted.",
        throws=("1 throw", "{number} throws"),
    ),
}
"""The texts by language."""
