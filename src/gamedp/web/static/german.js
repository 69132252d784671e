// What the registered games say of themselves, in German: their titles, and what their parameters
// mean. Loaded by who reads German; a game that is not listed here speaks for itself.

const MISERE = "Wenn nicht, gewinnt, wer es nimmt.";

export const GERMAN = {
  kniffel: { title: "Fünf Würfel, dreizehn Felder: allein oder zu zweit, mit Rat zu jedem Wurf." },
  mancala: {
    title: "Säe die Steine einer deiner Mulden aus und fange Zweier und Dreier.",
    pits: "In einer Reihe.",
    stones: "In jeder Mulde am Anfang.",
    players: "Zwei oder mehr.",
    skip_source: "Ob beim Säen die Mulde ausgelassen wird, aus der die Steine kommen. Wenn nicht, fällt auf einer langen Runde auch dort einer hinein.",
    chains: "Wann weitergesät wird: wenn dieses Säen einen Stein auf einer gegnerischen Seite abgelegt hat (sowing); wenn ein Säen desselben Zugs das getan hat (move); nie (never).",
    occupied: "Ob die Mulde des letzten Steins unmittelbar vor ihm Steine enthalten muss (now) oder schon vor diesem Säen (before).",
    captures: "run: Zweier und Dreier, auch mehrere hintereinander; run-unchained: ebenso, aber nicht nach einer Kette; opposite: wie bei Kalaha die Mulde gegenüber, wenn dort Steine liegen; opposite-empty: auch wenn keine dort liegen. Die beiden letzten sind für zwei Spieler.",
    move_again: "Ob noch einmal zieht, wessen letzter Stein in die eigene Kalaha fällt.",
    majority_stop: "Ob das Spiel endet, sobald jemand mehr als die Hälfte aller Steine hat. Was noch in den Mulden liegt, zählt dann niemandem.",
    ends: "Ob das Spiel endet, wenn die Mulden dessen leer sind, der am Zug ist (mover), oder sobald die von irgendwem leer sind (either).",
    leftover: "Wem die übrigen Steine gehören: dem, auf dessen Seite sie liegen (owner); dem, der keine mehr hat (out); niemandem (nobody).",
  },
  matches: {
    title: "Eine Reihe Streichhölzer, von der ihr abwechselnd einige nehmt.",
    matches: "So viele liegen am Anfang da.",
    takes: "Wie viele man auf einmal nehmen darf, in aufsteigender Folge.",
    misere: MISERE,
  },
  nim: {
    title: "Haufen von Streichhölzern; nehmt abwechselnd beliebig viele von einem.",
    heaps: "Wie groß sie am Anfang sind.",
    misere: MISERE,
  },
  wubbel: {
    title: "Würfle, so oft du dich traust: Ein Wubbel kostet alles, was nicht gesichert ist.",
    goal: "So viele Punkte gewinnen.",
    faces: "Alle gleich wahrscheinlich.",
    busts: "Die Seiten, die den Zug beenden und seine Punkte kosten. Jede andere zählt ihre Augen.",
    grace: "Ob ein Wubbel einen sicheren Punkt bringt. Dann wachsen die Punkte immer, und keine Stellung kommt zweimal vor.",
  },
};
