// A game as text, as the server reads it: turns with "_" between, each of throws and keeps by turns,
// and a letter for the box. What the rules allow, only the server knows.

export const LETTERS = "abcdefghijklm";

export const sorted = (faces) => [...faces].sort().join("");

const turnsOf = (game) => (game ? game.split("_") : []);

const isDone = (turn) => LETTERS.includes(turn.at(-1));

function withTurn(game, change) {
  const turns = turnsOf(game);
  const open = turns.length && !isDone(turns.at(-1)) ? turns.pop() : "";
  return [...turns, change(open)].join("_");
}

// One more throw: the dice that stay, and all that lie there afterwards.
export const thrown = (game, kept, dice) =>
  withTurn(game, (turn) => [...(turn ? [turn, sorted(kept) || "0"] : []), sorted(dice)].join("."));

// The entry; before the last throw, all dice are kept until then.
export const entered = (game, dice, throws, box) =>
  withTurn(game, (turn) => {
    const all = sorted(dice);
    return [turn, ...Array(2 * (3 - throws)).fill(all), LETTERS[box]].join(".");
  });

// Without the last throw or entry, and without throws of no dice.
export function takenBack(game) {
  const turns = turnsOf(game);
  if (turns.length === 0) return "";
  const parts = turns.pop().split(".");
  if (LETTERS.includes(parts.at(-1))) {
    parts.pop();
    while (parts.length > 2 && parts.at(-1) === parts.at(-2)) parts.splice(-2);
  } else parts.splice(-2);
  return [...turns, ...(parts.length ? [parts.join(".")] : [])].join("_");
}

// Five dice by the browser's own chance, each face as likely as any other.
export function someDice(count) {
  const faces = [];
  const bytes = new Uint8Array(32);
  while (faces.length < count) {
    crypto.getRandomValues(bytes);
    for (const byte of bytes) if (byte < 252 && faces.length < count) faces.push(1 + (byte % 6));
  }
  return faces;
}
