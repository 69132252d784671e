"""The words of Mancala in German; the English ones are those of its rules."""

from __future__ import annotations

from typing import Any

from gamedp.games._parameters import GERMAN_SENTENCES

__all__ = ["GERMAN"]

GERMAN: dict[str, Any] = {
    "about": "Säe die Steine einer deiner Mulden aus und fange Zweier und Dreier.",
    "parameters": {
        "pits": "In einer Reihe.",
        "stones": "In jeder Mulde am Anfang.",
        "players": "Zwei oder mehr.",
        "skip_source": (
            "Ob beim Säen die Mulde ausgelassen wird, aus der die Steine kommen. Wenn nicht, fällt "
            "auf einer langen Runde auch dort einer hinein."
        ),
        "chains": (
            "Wann weitergesät wird: wenn dieses Säen einen Stein auf einer gegnerischen Seite "
            "abgelegt hat (sowing); wenn ein Säen desselben Zugs das getan hat (move); nie (never)."
        ),
        "occupied": (
            "Ob die Mulde des letzten Steins unmittelbar vor ihm Steine enthalten muss (now) oder "
            "schon vor diesem Säen (before)."
        ),
        "captures": (
            "run: Zweier und Dreier, auch mehrere hintereinander; run-unchained: ebenso, aber "
            "nicht nach einer Kette; opposite: wie bei Kalaha die Mulde gegenüber, wenn dort "
            "Steine liegen; opposite-empty: auch wenn keine dort liegen. Die beiden letzten sind "
            "für zwei Spieler."
        ),
        "move_again": "Ob noch einmal zieht, wessen letzter Stein in die eigene Kalaha fällt.",
        "majority_stop": (
            "Ob das Spiel endet, sobald jemand mehr als die Hälfte aller Steine hat. Was noch in "
            "den Mulden liegt, zählt dann niemandem."
        ),
        "ends": (
            "Ob das Spiel endet, wenn die Mulden dessen leer sind, der am Zug ist (mover), oder "
            "sobald die von irgendwem leer sind (either)."
        ),
        "leftover": (
            "Wem die übrigen Steine gehören: dem, auf dessen Seite sie liegen (owner); dem, der "
            "keine mehr hat (out); niemandem (nobody)."
        ),
    },
    "names": {
        "pit {}": "Mulde {}",
        "pits": "Mulden",
        "stones": "Steine in jeder",
        "players": "Spieler",
        "skip_source": "ohne Startmulde",
        "chains": "Ketten",
        "occupied": "belegt",
        "captures": "Fangen",
        "move_again": "noch ein Zug",
        "majority_stop": "Ende bei Mehrheit",
        "ends": "Ende",
        "leftover": "Reste",
    },
    "sentences": {
        **GERMAN_SENTENCES,
        "captures={} is for two players: {}; choose {}.": (
            "captures={} ist für zwei Spieler: sonst liegt keine Mulde einer anderen gegenüber."
        ),
        "pits={} with stones={} does not fit: {}.": (
            "pits={} mit stones={} ist zu groß; nimm weniger Mulden oder Steine."
        ),
    },
}
