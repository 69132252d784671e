// All words of the page, in English and in German: the same keys in both.

const EN = {
  language: "Deutsch",
  languageLabel: "Diese Seite auf Deutsch",
  startTitle: "Play, and see what every move is worth",
  startLead:
    "Small games are solved to the end, and every value is proven; large ones are searched as far as time allows, and say so. Afterwards you see what was luck and what was your decision.",
  players: (n) => (n === 1 ? "for one" : `for ${n}`),
  play: "Play",
  playNamed: (name) => `Play ${name}`,
  byHandNamed: (name) => `I have real dice: ${name}`,
  rules: "Rules",
  settings: "Parameters",
  presets: "Well-known games",
  noGames: "This server offers no games.",
  yes: "yes",
  no: "no",
  player: (n) => `Player ${n}`,
  you: "You",
  person: "Person",
  solution: "Perfect player",
  search: "Looks ahead",
  random: "Random",
  mistaken: "Errs at times",
  seatOf: (who) => `Who plays for ${who}`,
  searching: "Looks ahead for ½ s",
  searchedSeats: (depth) => `This game is too large to be solved: nobody plays it perfectly here.${depth ? ` The search looks ${depth} moves ahead now.` : ""}`,
  depthOf: (who) => `Moves that ${who} looks ahead`,
  chanceOf: (who) => `How often ${who} errs, in percent`,
  plies: "moves",
  percent: "%",
  actions: "Your moves",
  actionsOf: (who) => `Moves of ${who}`,
  yourTurn: "Your turn.",
  turnOf: (who) => `${who} is to move.`,
  thinking: (who) => `${who} is thinking.`,
  played: (who, action) => `${who}: ${action}.`,
  playedYou: (action) => `You: ${action}.`,
  chance: (what) => `Chance: ${what}.`,
  throwYou: "Your throw: what does the die show?",
  throwFor: (who) => `Throw for ${who}: what does the die show?`,
  chooseOutcome: (who, action) => `${who}: ${action}. What was the outcome of chance?`,
  outcomes: "Possible outcomes of chance",
  outcomeNumber: (n) => `outcome ${n}`,
  over: "The game is over.",
  overTitle: "The end",
  won: (who) => `${who} has won.`,
  wonYou: "You have won.",
  lostYou: "You have lost.",
  draw: "A draw.",
  got: (number) => `You have got ${number}.`,
  best: "best",
  maybeBest: "perhaps best",
  loses: (number) => `costs ${number}`,
  ends: { win: (n) => `wins in ${n}`, loss: (n) => `loses in ${n} at best`, draw: (n) => `draws in ${n}` },
  results: { win: "wins", loss: "loses", draw: "draws" },
  letters: { win: "W", loss: "L", draw: "D" },
  stands: { win: (n) => `win in ${n}`, loss: (n) => `loss in ${n} at best`, draw: (n) => `draw in ${n}` },
  standResults: { win: "a win", loss: "a loss", draw: "a draw" },
  bounds: { "≤": "at most ", "≥": "at least ", "≈": "≈ ", "≲": "likely at most ", "≳": "likely at least " },
  toWin: (share) => `${share} to win`,
  ofThePoint: (share) => `${share}, a draw counts half`,
  ahead: (size) => `${size} ahead`,
  behind: (size) => `${size} behind`,
  level: "level",
  more: (sum) => `${sum} more`,
  unknown: "unknown",
  exact: "Exact values and bounds",
  exactHeads: ["Move", "Value", "At least", "At most", "Cost"],
  costliest: (line, what) => `Costliest mistake: ${line}; ${what}.`,
  itCost: (cost) => `it cost ${cost}`,
  itTurned: (from, to) => `it turned ${from} into ${to}`,
  showMistake: "Show it",
  solvedCard: (n) => `solved: all ${n} positions`,
  searchedCard: "searched: too large to be solved",
  openCard: "solved when opened, if not too large",
  lasts: (n) => `≈ ${n} moves`,
  endless: "need not end",
  bestPlay: "Moves are counted to the end of best play: the winner takes the shortest way, the loser holds out.",
  leftPlies: (n, mean) => `With best play, ${mean ? "about " : ""}${n} more ${n === "1" ? "move" : "moves"}${mean ? ", on average" : ""}.`,
  noPlies: {
    time: "How long play lasts was not found in the time allowed.",
    states: "How long play lasts is not worked out for so many positions.",
  },
  values: "Values",
  byHand: "I have real dice",
  byHandHelp: "Enter the outcomes of chance by hand",
  hint: "Hint",
  undo: "Undo",
  link: "Copy link",
  linkCopied: "The link to this position is copied.",
  linkShown: "The address of this page holds the whole game: copy it.",
  newGame: "New game",
  otherGames: "All games",
  hintBest: (names) => `Best: ${names}.`,
  hintAll: "All moves are equally good.",
  hintNone: "Nothing is known of this position.",
  history: "The game so far",
  historyEmpty: "Nothing has been played yet.",
  historySearch: "Too large to be solved: a search estimates each position.",
  historySearchChance: "Too large to be solved: a search estimates each position, and cannot tell decision from luck.",
  searchBack: "Search the positions so far",
  estimate: "estimate, not proven",
  chartLabel: (who, from, to, plies) =>
    `What ${who} can expect, over ${plies} moves: from ${from} to ${to}.`,
  choice: "decision",
  luck: "luck",
  first: "To the start",
  back: "One move back",
  forward: "One move on",
  last: "To the end",
  lookingBack: (ply, of) => `Move ${ply} of ${of}. A move here starts a new branch.`,
  branches: "Other branches",
  fromPly: "From move",
  leftOut: (n) => (n === 1 ? "One branch of this link cannot be played and is left out."
    : `${n} branches of this link cannot be played and are left out.`),
  removeBranch: (name) => `Remove: ${name}`,
  report: "How it was played",
  reportWho: "Player",
  reportChoices: "Decisions",
  reportMistakes: "Mistakes",
  reportCost: "Cost",
  reportLuck: "Luck",
  mistakesList: "Mistakes, the costliest first",
  noMistakes: "No mistakes: every decision was one of the best.",
  mistakeLine: (ply, who, did, best) => `Move ${ply}, ${who}: ${did}; best: ${best}`,
  again: "Play again",
  puzzles: "Puzzles",
  why: "Why?",
  searchedMistakes: "Mistakes, proven ones first",
  noSearchedMistakes: "The search has found no mistake, which does not prove that there was none.",
  provenCost: (cost) => `proven: costs ${cost}`,
  opinionCost: (cost) => `a search’s opinion: costs ${cost}`,
  told: "What has happened",
  tellAgain: "Show again",
  skipSteps: "Skip",
  basisExact: (n) => `Every value is exact: all ${n} positions are solved.`,
  basisProven: (n) => `Proven: all ${n} positions are solved.`,
  exactWidth: (width) => `Every value is proven to within ${width}.`,
  basisEquilibrium: (n) => `Solved: all ${n} positions. The values hold if all play as shown, each to get as much as possible.`,
  basisSearch: (depth) => `Not solved: a search has looked ${depth} moves ahead. Its values are estimates.`,
  basisSearchUnknown: "The search was too short to find a value: what this position is worth is unknown.",
  basisSearchProven: (depth) => `Proven by a search of ${depth} moves.`,
  basisUnproven: "These values are not proven.",
  basisNone: "Nothing is known of this position.",
  seats: "Who plays",
  expected: "What each player can expect from here on",
  phase: {
    wait: "Waiting for a free place",
    compile: "Compiling the rules",
    explore: "Finding all positions",
    solve: "Solving",
    lengths: "Finding how long play lasts",
    verify: "Checking what is proven",
    search: "Looking ahead",
    play: "Playing games",
  },
  seconds: (n) => `${n} s`,
  stop: "Stop",
  stopped: "Stopped.",
  goOn: "Go on",
  loading: "Loading",
  unreachable: "The server cannot be reached.",
  badFile: (path) => `${path} is missing or damaged here: write the folder anew.`,
  otherRules: "This link is to a game with other rules than it has here.",
  noSearch: "Only a server looks ahead: choose another player.",
  byServer: "by a server",
  badAddress: "This link holds no game that can be read.",
  noSuchGame: (name) => `There is no game called “${name}” here.`,
  board: "Board",
  heapWords: (n, count) => `heap ${n}: ${count}`,
  pitWords: (name, list, store) => `${name}: pits ${list}; store ${store}`,
  row: (n) => `Row ${n}`,
  gridWords: (n, list) => `row ${n}: ${list}`,
  empty: "empty",
  dieWords: (face, kept) => (kept ? `${face}, stays` : `${face}`),
  scoreWords: (name, parts, most) => `${name}: ${parts} of ${most}`,
  surface: "Where the decision changes",
};

const DE = {
  language: "English",
  languageLabel: "This page in English",
  startTitle: "Spiele, und sieh, was jeder Zug wert ist",
  startLead:
    "Kleine Spiele sind bis zum Ende gelöst, und jeder Wert ist bewiesen; große werden durchsucht, soweit die Zeit reicht, und das steht dabei. Danach siehst du, was Glück war und was deine Entscheidung.",
  players: (n) => (n === 1 ? "für einen" : `für ${n}`),
  play: "Spielen",
  playNamed: (name) => `${name} spielen`,
  byHandNamed: (name) => `Ich habe echte Würfel: ${name}`,
  rules: "Regeln",
  settings: "Parameter",
  presets: "Bekannte Spiele",
  noGames: "Dieser Server bietet keine Spiele an.",
  yes: "ja",
  no: "nein",
  player: (n) => `Spieler ${n}`,
  you: "Du",
  person: "Mensch",
  solution: "Perfekter Spieler",
  search: "Rechnet voraus",
  random: "Zufällig",
  mistaken: "Irrt manchmal",
  seatOf: (who) => `Wer für ${who} spielt`,
  searching: "Rechnet ½ s voraus",
  searchedSeats: (depth) => `Dieses Spiel ist zu groß, um gelöst zu werden: Perfekt spielt es hier niemand.${depth ? ` Die Suche rechnet gerade ${depth} Züge voraus.` : ""}`,
  depthOf: (who) => `Wie viele Züge ${who} vorausrechnet`,
  chanceOf: (who) => `Wie oft ${who} irrt, in Prozent`,
  plies: "Züge",
  percent: "%",
  actions: "Deine Züge",
  actionsOf: (who) => `Züge von ${who}`,
  yourTurn: "Du bist am Zug.",
  turnOf: (who) => `${who} ist am Zug.`,
  thinking: (who) => `${who} überlegt.`,
  played: (who, action) => `${who}: ${action}.`,
  playedYou: (action) => `Du: ${action}.`,
  chance: (what) => `Zufall: ${what}.`,
  throwYou: "Dein Wurf: Was zeigt der Würfel?",
  throwFor: (who) => `Wirf für ${who}: Was zeigt der Würfel?`,
  chooseOutcome: (who, action) => `${who}: ${action}. Was hat der Zufall gebracht?`,
  outcomes: "Was der Zufall bringen kann",
  outcomeNumber: (n) => `Ausgang ${n}`,
  over: "Das Spiel ist zu Ende.",
  overTitle: "Ende",
  won: (who) => `${who} hat gewonnen.`,
  wonYou: "Du hast gewonnen.",
  lostYou: "Du hast verloren.",
  draw: "Unentschieden.",
  got: (number) => `Du hast ${number} bekommen.`,
  best: "am besten",
  maybeBest: "vielleicht am besten",
  loses: (number) => `kostet ${number}`,
  ends: { win: (n) => `gewinnt in\u00a0${n}`, loss: (n) => `verliert bestenfalls in\u00a0${n}`, draw: (n) => `remis in\u00a0${n}` },
  results: { win: "gewinnt", loss: "verliert", draw: "remis" },
  letters: { win: "S", loss: "N", draw: "R" },
  stands: { win: (n) => `Sieg in\u00a0${n}`, loss: (n) => `Niederlage bestenfalls in\u00a0${n}`, draw: (n) => `Remis in\u00a0${n}` },
  standResults: { win: "Sieg", loss: "Niederlage", draw: "Remis" },
  bounds: { "≤": "höchstens ", "≥": "mindestens ", "≈": "≈ ", "≲": "wohl höchstens ", "≳": "wohl mindestens " },
  toWin: (share) => `${share} Siegchance`,
  ofThePoint: (share) => `${share}, ein Remis zählt halb`,
  ahead: (size) => `${size} vorn`,
  behind: (size) => `${size} zurück`,
  level: "gleichauf",
  more: (sum) => `noch ${sum}`,
  unknown: "unbekannt",
  exact: "Genaue Werte und Schranken",
  exactHeads: ["Zug", "Wert", "Mindestens", "Höchstens", "Kosten"],
  costliest: (line, what) => `Teuerster Fehler: ${line}; ${what}.`,
  itCost: (cost) => `er hat ${cost} gekostet`,
  itTurned: (from, to) => `aus ${from} wurde ${to}`,
  showMistake: "Ansehen",
  solvedCard: (n) => `gelöst: alle ${n} Stellungen`,
  searchedCard: "durchsucht: zu groß, um gelöst zu werden",
  openCard: "beim Öffnen gelöst, wenn nicht zu groß",
  lasts: (n) => `≈ ${n} Züge`,
  endless: "endet vielleicht nie",
  bestPlay: "Gezählt sind die Züge bei bestem Spiel: Wer gewinnt, nimmt den kürzesten Weg; wer verliert, wehrt sich, so lange es geht.",
  leftPlies: (n, mean) => `Bei bestem Spiel ${mean ? "im Mittel " : ""}noch ${mean ? "etwa " : ""}${n} ${n === "1" ? "Zug" : "Züge"}.`,
  noPlies: {
    time: "Wie lange das Spiel dauert, war in der erlaubten Zeit nicht zu finden.",
    states: "Wie lange das Spiel dauert, wird für so viele Stellungen nicht bestimmt.",
  },
  values: "Werte",
  byHand: "Ich habe echte Würfel",
  byHandHelp: "Von Hand eingeben, was der Zufall bringt",
  hint: "Tipp",
  undo: "Zurücknehmen",
  link: "Link kopieren",
  linkCopied: "Der Link zu dieser Stellung ist kopiert.",
  linkShown: "Die Adresse dieser Seite enthält das ganze Spiel: Kopiere sie.",
  newGame: "Neues Spiel",
  otherGames: "Alle Spiele",
  hintBest: (names) => `Am besten: ${names}.`,
  hintAll: "Alle Züge sind gleich gut.",
  hintNone: "Über diese Stellung ist nichts bekannt.",
  history: "Das Spiel bisher",
  historyEmpty: "Noch ist nichts gespielt.",
  historySearch: "Zu groß, um gelöst zu werden: Eine Suche schätzt jede Stellung.",
  historySearchChance: "Zu groß, um gelöst zu werden: Eine Suche schätzt jede Stellung, trennt aber Entscheidung und Glück nicht.",
  searchBack: "Alle bisherigen Stellungen durchsuchen",
  estimate: "Schätzung, nicht bewiesen",
  chartLabel: (who, from, to, plies) =>
    `Was ${who} erwarten kann, über ${plies} Züge: von ${from} bis ${to}.`,
  choice: "Entscheidung",
  luck: "Glück",
  first: "Zum Anfang",
  back: "Einen Zug zurück",
  forward: "Einen Zug weiter",
  last: "Zum Ende",
  lookingBack: (ply, of) => `Zug ${ply} von ${of}. Wer hier zieht, beginnt einen neuen Zweig.`,
  branches: "Andere Zweige",
  fromPly: "Ab Zug",
  leftOut: (n) => (n === 1 ? "Ein Zweig dieses Links lässt sich nicht spielen und fehlt deshalb."
    : `${n} Zweige dieses Links lassen sich nicht spielen und fehlen deshalb.`),
  removeBranch: (name) => `Entfernen: ${name}`,
  report: "Wie gespielt wurde",
  reportWho: "Spieler",
  reportChoices: "Ent\u00adschei\u00addungen",
  reportMistakes: "Fehler",
  reportCost: "Kosten",
  reportLuck: "Glück",
  mistakesList: "Fehler, der teuerste zuerst",
  noMistakes: "Keine Fehler: Jede Entscheidung war eine der besten.",
  mistakeLine: (ply, who, did, best) => `Zug ${ply}, ${who}: ${did}; am besten: ${best}`,
  again: "Noch einmal",
  puzzles: "Aufgaben",
  why: "Warum?",
  searchedMistakes: "Fehler, zuerst die bewiesenen",
  noSearchedMistakes: "Die Suche hat keinen Fehler gefunden; das beweist nicht, dass es keinen gab.",
  provenCost: (cost) => `bewiesen: kostet ${cost}`,
  opinionCost: (cost) => `laut Suche: kostet ${cost}`,
  told: "Was geschehen ist",
  tellAgain: "Nochmals zeigen",
  skipSteps: "Überspringen",
  basisExact: (n) => `Jeder Wert ist exakt: Alle ${n} Stellungen sind gelöst.`,
  basisProven: (n) => `Bewiesen: Alle ${n} Stellungen sind gelöst.`,
  exactWidth: (width) => `Jeder Wert ist auf ${width} genau bewiesen.`,
  basisEquilibrium: (n) => `Gelöst: alle ${n} Stellungen. Die Werte gelten, wenn alle spielen wie gezeigt und jeder für sich möglichst viel holt.`,
  basisSearch: (depth) => `Nicht gelöst: Eine Suche hat ${depth} Züge vorausgerechnet. Ihre Werte sind Schätzungen.`,
  basisSearchUnknown: "Die Suche war zu kurz, um einen Wert zu finden: Was diese Stellung wert ist, ist unbekannt.",
  basisSearchProven: (depth) => `Bewiesen durch eine Suche von ${depth} Zügen.`,
  basisUnproven: "Diese Werte sind nicht bewiesen.",
  basisNone: "Über diese Stellung ist nichts bekannt.",
  seats: "Wer spielt",
  expected: "Was jeder von hier an erwarten kann",
  phase: {
    wait: "Wartet auf einen freien Platz",
    compile: "Übersetzt die Regeln",
    explore: "Findet alle Stellungen",
    solve: "Löst das Spiel",
    lengths: "Bestimmt, wie lange das Spiel dauert",
    verify: "Prüft, was bewiesen ist",
    search: "Rechnet voraus",
    play: "Spielt Partien",
  },
  seconds: (n) => `${n} s`,
  stop: "Anhalten",
  stopped: "Angehalten.",
  goOn: "Weiter",
  loading: "Lädt",
  unreachable: "Der Server ist nicht erreichbar.",
  badFile: (path) => `${path} fehlt hier oder ist beschädigt: Schreibe den Ordner neu.`,
  otherRules: "Dieser Link gehört zu einem Spiel mit anderen Regeln als hier.",
  noSearch: "Nur ein Server rechnet voraus: Wähle einen anderen Spieler.",
  byServer: "mit Server",
  badAddress: "Dieser Link enthält kein lesbares Spiel.",
  noSuchGame: (name) => `Ein Spiel namens „${name}“ gibt es hier nicht.`,
  board: "Spielbrett",
  heapWords: (n, count) => `Haufen ${n}: ${count}`,
  pitWords: (name, list, store) => `${name}: Mulden ${list}; Vorrat ${store}`,
  row: (n) => `Reihe ${n}`,
  gridWords: (n, list) => `Zeile ${n}: ${list}`,
  empty: "leer",
  dieWords: (face, kept) => (kept ? `${face}, bleibt liegen` : `${face}`),
  scoreWords: (name, parts, most) => `${name}: ${parts} von ${most}`,
  surface: "Wo die Entscheidung wechselt",
};

const ALL = { en: EN, de: DE };

// What all games call things: what stands for {} goes where {} is, or {0}, {1}, …
const NAMES = {
  de: {
    "first player": "Spieler 1",
    "second player": "Spieler 2",
    "player {}": "Spieler {}",
    "row {}, column {}": "Zeile {}, Spalte {}",
    "column {}": "Spalte {}",
  },
  en: {
    "first player": "Player 1",
    "second player": "Player 2",
    "player {}": "Player {}",
  },
};

const KEY = "gamedp-language";

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

const wished = stored() ?? navigator.language.slice(0, 2);
export let language = wished === "de" ? "de" : "en";
export let words = ALL[language];

export function setLanguage(wanted) {
  language = wanted in ALL ? wanted : "en";
  words = ALL[language];
  document.documentElement.lang = language;
  try {
    localStorage.setItem(KEY, language);
  } catch {
    // private windows may keep nothing
  }
}

// What the game that is shown says of itself, by languages.
let said = {};

export function speakFor(game) {
  said = game.texts;
}

const patterns = new Map();

function patternOf(template) {
  if (!patterns.has(template)) {
    const parts = template.split("{}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    patterns.set(template, new RegExp(`^${parts.join("(.+)")}$`, "s"));
  }
  return patterns.get(template);
}

// A name in the language of the page, by the first template that it fits: the game's own come first.
export function named(text, texts = said) {
  for (const [template, made] of Object.entries({ ...texts[language]?.names, ...NAMES[language] })) {
    const found = patternOf(template).exec(text);
    if (!found) continue;
    let next = 1;
    return made.replace(/\{(\d*)\}/g, (_, at) => found[at === "" ? next++ : Number(at) + 1]);
  }
  return text;
}

// But not of what a board calls by a letter and a number.
export const capital = (text) => (/^[a-z]\d/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1));

// Whole numbers as such, unless `fixed`; others with four decimals; a true minus; in German a comma.
const DIGITS = 4;

export function number(value, { sign = false, digits = DIGITS, fixed = false } = {}) {
  const exact = Number(value);
  if (Number.isNaN(exact)) return "–";
  if (!Number.isFinite(exact)) return exact < 0 ? "−∞" : "∞";
  const size = Math.abs(exact);
  let text = Number.isInteger(exact) && !fixed ? String(size) : size.toFixed(digits);
  if (language === "de") text = text.replace(".", ",");
  const isZero = !/[1-9]/.test(text);
  return (exact < 0 && !isZero ? "−" : sign && !isZero ? "+" : "") + text;
}

// A number with what it counts in this game, if the game says it.
export function counted(value, text) {
  const unit = said[language]?.payoff_unit;
  const form = unit && (unit[value === 1 ? "one" : "other"] ?? unit.other);
  return form ? form.replace("{}", text) : text;
}

export const whole = (value) => new Intl.NumberFormat(language).format(value);

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

// A width of bounds, rounded up to one digit: 4·10⁻¹².
export function small(value) {
  let power = Math.floor(Math.log10(value));
  let digit = Math.ceil(value / 10 ** power - 1e-9);
  if (digit > 9) [digit, power] = [1, power + 1];
  return `${digit}·10${[...String(power)].map((letter) => RAISED[letter]).join("")}`;
}

export const keys = (code) => Object.entries(ALL[code]).flatMap(([key, value]) =>
  (typeof value === "object" ? Object.keys(value).map((inner) => `${key}.${inner}`) : key));
