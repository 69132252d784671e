// A game under way: who sits where, what has been played, and whose turn it is.
//
// The line of actions and outcomes is all there is to a game; the server is asked for each position,
// and remembers nothing. `cursor` is the ply that is looked at; an action there cuts the rest off.

import { chosenOf, packed, packedBranches, shared, stated, toAddress, unpacked, unpackedBranches } from "./address.js";
import { animate, draw, fall } from "./boards.js";
import { focusOn, mayFocus, pause } from "./dom.js";
import { Panel } from "./panel.js";
import { isSeat, playerOf } from "./seats.js";
import { words } from "./words.js";

const THINK = 450; // milliseconds that a computer's turn takes at least, to be followed by eye
const KEPT = 400; // positions that are remembered
const MOST_SEATS = 16; // that an address may say
const MOST_BRANCHES = 12;
const NARROW = matchMedia("(max-width: 34rem)");

export class Play {
  constructor(page, source, game, rest) {
    Object.assign(this, { page, source, game });
    const given = unpacked(rest);
    this.parameters = chosenOf(game, given?.parameters ?? {});
    this.line = given?.line ?? { start: null, actions: [], outcomes: [] };
    this.broken = !given;
    const branches = Array.isArray(rest.branches) ? rest.branches.slice(0, MOST_BRANCHES) : [];
    this.keepBranches(unpackedBranches(branches, this.line));
    this.branchNames = new Map();
    this.leftOut = 0; // branches of the link that cannot be played
    const seats = Array.isArray(rest.seats) && rest.seats.length <= MOST_SEATS
      && rest.seats.every(isSeat) ? rest.seats : [];
    this.seats = seated(seats, seats.length || game.players);
    this.seed = Number.isSafeInteger(rest.seed) && rest.seed >= 0 ? rest.seed : newSeed();
    this.byHand = rest.hand === true;
    this.values = rest.values !== false;
    this.puzzle = isPuzzle(rest.puzzle) ? rest.puzzle : null;
    this.cursor = this.line.actions.length;
    this.positions = new Map();
    this.memory = {};
    this.hasChance = false; // as far as it has been seen
    this.past = null;
    this.pastOf = ""; // the line that the past is known of
    this.pastTrouble = "";
    this.now = null; // the position that is shown
    this.asking = null; // an action of which chance is to be entered
    this.chance = null; // what it has brought last
    this.trouble = null; // the error that has stopped the turn
    this.busy = false;
    this.moves = false; // something on the board
    this.turn = 0; // counts what has been begun, so that what is late is known
    this.stopAsking = new AbortController();
    this.gone = new AbortController();
    this.panel = new Panel(this);
    addEventListener("keydown", (event) => this.lookByKey(event), { signal: this.gone.signal });
    NARROW.addEventListener("change", () => this.now && !this.moves && this.panel.paintBoard(), { signal: this.gone.signal });
  }

  // Who is who.

  get people() {
    return this.seats.flatMap((seat, n) => (seat === "person" ? [n] : []));
  }

  get eye() {
    return this.people.length === 1 ? this.people[0] : 0;
  }

  nameOf(player) {
    return this.people.length === 1 && this.people[0] === player
      ? words.you : words.player(player + 1);
  }

  get isLive() {
    return this.cursor === this.line.actions.length;
  }

  get isPersonsTurn() {
    if (!this.now || this.now.over || this.busy) return false;
    return this.seats[this.now.mover] === "person" || !this.isLive;
  }

  // What a throw of real dice is for: what is asked for, or the only action of a person that needs one.
  get throwing() {
    if (this.asking || !this.byHand || !this.isPersonsTurn) return this.asking;
    const some = this.now.actions.filter(({ chance }) => chance.length > 1);
    return some.length === 1 ? some[0] : null;
  }

  // The address, and what belongs to it.

  address() {
    const rest = packed(stated(this.game, this.parameters), this.line);
    if (this.seats.some((seat, n) => seat !== (n ? "solution" : "person"))) rest.seats = this.seats;
    rest.seed = this.seed;
    if (this.byHand) rest.hand = true;
    if (!this.values) rest.values = false;
    if (this.puzzle) rest.puzzle = this.puzzle;
    if (this.branches.length) rest.branches = packedBranches(this.line, this.branches);
    return toAddress(this.game.name, rest);
  }

  isAt(hash) {
    return hash === this.address();
  }

  keepAddress() {
    try {
      history.replaceState(null, "", this.address());
    } catch (error) {
      // Some browsers allow a hundred of these in half a minute; the next ply keeps this one, too.
      if (error.name !== "SecurityError") throw error;
    }
  }

  leave() {
    this.beginTurn();
    this.stopBack?.abort();
    this.gone.abort();
  }

  // What was asked before comes too late: nobody waits for it any more.
  beginTurn() {
    this.turn++;
    this.stop();
    this.busy = false;
    this.moves = false;
    this.asking = null;
    this.trouble = null;
    this.panel.clear();
  }

  // Asking, with progress, and errors as one sentence.

  async ask(what, body) {
    const turn = this.turn;
    // Who thinks is said to think already.
    const late = setTimeout(() => turn === this.turn && !body.then?.player && this.panel.wait(), 250);
    try {
      const answer = await this.source[what](
        this.game.name, { parameters: this.parameters, ...body }, this.stopAsking.signal, (news) => {
          clearTimeout(late);
          if (turn === this.turn) this.panel.progress(news);
        });
      if (turn !== this.turn) return null;
      this.panel.clear();
      return answer;
    } catch (error) {
      if (turn === this.turn) this.fail(error);
      return null;
    } finally {
      clearTimeout(late);
    }
  }

  stop() {
    this.stopAsking.abort();
    this.stopAsking = new AbortController();
  }

  // Say what went wrong, and offer what helps: what was refused is not asked again.
  fail(error) {
    this.trouble = error;
    const message = this.broken ? words.badAddress
      : error.name === "AbortError" ? words.stopped : error.message || words.unreachable;
    if (!isRefused(error) || this.now) this.panel.fail(message, words.goOn, () => this.look(this.cursor));
    else if (this.line.start === null && !this.line.actions.length && !this.broken) {
      this.panel.fail(message, words.otherGames, () => (location.hash = ""));
    } else this.panel.fail(message, words.newGame, () => this.again());
  }

  part(plies) {
    const { start, actions, outcomes } = this.line;
    return { start, actions: actions.slice(0, plies), outcomes: outcomes.slice(0, plies) };
  }

  positionOf(plies) {
    return this.positions.get(JSON.stringify(this.part(plies)));
  }

  async positionAt(plies) {
    const line = this.part(plies);
    const key = JSON.stringify(line);
    if (!this.positions.has(key)) {
      // A game may begin by chance: the seed draws its start, and is of no use to others.
      const drawn = line.start === null && !plies;
      const asked = drawn ? { ...line, start: { seed: this.seed } } : line;
      const answer = await this.ask("position", { line: asked });
      if (!answer) return null;
      this.keep(answer);
      return answer;
    }
    return this.positions.get(key);
  }

  keep(answer) {
    if (this.positions.size > KEPT) this.positions.clear();
    this.positions.set(JSON.stringify(answer.line), answer);
  }

  // What happens.

  async begin() {
    this.panel.build();
    if (this.broken) {
      this.fail({ status: 422 });
      return;
    }
    if (mayFocus()) focusOn(this.panel.heading);
    await this.look(this.cursor);
  }

  // Show a ply; go on from it if it is the last one.
  async look(plies) {
    this.beginTurn();
    this.busy = true; // until it is there, nothing is played in the one that is still seen
    this.cursor = plies;
    const { turn } = this;
    const answer = await this.positionAt(plies);
    if (!answer) return;
    if (!plies && this.line.start === null) this.line.start = answer.line.start;
    if (answer.view?.kind === "heaps" && plies && !this.memory.counts) {
      // Who comes by a link sees a board as wide as who has played from the start.
      this.memory.counts = (await this.positionAt(0))?.view?.counts;
      if (turn !== this.turn) return;
    }
    if (answer.players !== this.seats.length) {
      // How many play may be a parameter of the game.
      this.seats = seated(this.seats, answer.players);
      const hadFocus = document.activeElement === this.panel.heading;
      this.panel.build();
      if (hadFocus) focusOn(this.panel.heading);
    }
    this.now = answer;
    this.busy = false;
    this.keepAddress();
    this.panel.paint();
    this.lookBack();
    await this.goOn();
  }

  // The arrows of the keyboard go through the game, but where they do something else.
  lookByKey({ key, target, altKey, ctrlKey, metaKey, shiftKey }) {
    const to = this.cursor + ({ ArrowLeft: -1, ArrowRight: 1 }[key] ?? NaN);
    const isOther = altKey || ctrlKey || metaKey || shiftKey || target.closest?.("input, select, canvas, [tabindex='0']");
    if (this.now && !isOther && to >= 0 && to <= this.line.actions.length) this.look(to);
  }

  // Let computers play until a person is to move.
  async goOn() {
    const turn = this.turn;
    while (turn === this.turn && this.isLive && this.now && !this.now.over) {
      const { mover } = this.now;
      if (this.seats[mover] === "person") return;
      this.busy = true;
      this.panel.paint();
      const wait = pause(THINK);
      const then = { player: playerOf(this.seats[mover]), seed: this.seed };
      if (this.byHand) then.by_hand = true;
      const answer = await this.ask("position", { line: this.line, then });
      if (!answer) return;
      await wait;
      if (turn !== this.turn) return;
      this.busy = false;
      if (answer.pending) {
        this.askFor(answer.pending);
        return;
      }
      await this.arrive(answer);
    }
  }

  // A person takes an action.
  async act(action) {
    if (!this.isPersonsTurn || this.asking) return;
    const entry = this.now.actions.find((each) => each.action === action);
    if (!entry) return;
    if (this.byHand && entry.chance.length > 1) {
      if (entry === this.throwing) this.panel.focusActions();
      else this.askFor(entry);
      return;
    }
    await this.take({ action, seed: this.seed });
  }

  // What real dice have brought is entered by hand.
  askFor(asking) {
    this.asking = asking;
    this.panel.paint();
    this.panel.focusActions();
  }

  async enter(outcome) {
    if (this.throwing) await this.take({ action: this.throwing.action, outcome });
  }

  async take(then) {
    this.beginTurn();
    const { turn } = this;
    this.busy = true;
    this.panel.paint();
    const answer = await this.ask("position", { line: this.part(this.cursor), then });
    if (!answer) {
      if (turn === this.turn) this.busy = false;
      return;
    }
    await this.arrive(answer);
    if (turn === this.turn) await this.goOn();
  }

  // Show what has been played, as it happens.
  async arrive(answer) {
    const turn = this.turn;
    const before = this.now;
    const old = this.line;
    this.line = answer.line;
    this.keepBranches([old, ...this.branches]);
    this.cursor = this.line.actions.length;
    this.keep(answer);
    this.keepAddress();
    const { action, outcome } = answer.played;
    const entry = before.actions.find((each) => each.action === action);
    const seen = entry?.chance.find((each) => each.outcome === outcome)?.view;
    this.now = answer;
    this.busy = true;
    this.moves = true;
    this.panel.keepFocus();
    this.lookBack();
    this.showChance(entry?.chance.length > 1 ? answer.played : null);
    if (this.chance && seen) await fall(this.panel.tray, seen);
    if (turn !== this.turn) return;
    if (answer.steps.length) await this.panel.story.tell(before.view, answer.steps);
    if (turn !== this.turn) return;
    this.panel.paintBoard();
    if (!answer.steps.length) await animate(this.panel.board, before.view, answer.view, action);
    if (turn !== this.turn) return;
    this.rest();
  }

  // All has been shown: what has become known meanwhile is seen now, too.
  rest() {
    this.busy = false;
    this.moves = false;
    this.panel.paint();
    this.panel.paintPast();
  }

  // What the last action has done, once more.
  async tellAgain() {
    if (this.busy || !this.now?.steps.length) return;
    const { turn } = this;
    this.busy = true;
    this.moves = true;
    this.panel.paint();
    await this.panel.story.tell(this.now.previous, this.now.steps);
    if (turn !== this.turn) return;
    this.rest();
  }

  showChance(played) {
    this.chance = played;
    this.panel.paintChance();
  }

  // Get to know what each ply was worth. What is known already stays in sight meanwhile.
  async lookBack() {
    this.stopBack?.abort();
    const { line } = this;
    const of = JSON.stringify(line);
    if (this.past && this.pastOf !== of) this.cutPast();
    this.panel.paintPast();
    if (this.past && this.pastOf === of) return;
    this.stopBack = new AbortController();
    const { signal } = this.stopBack;
    try {
      const past = await this.source.history(
        this.game.name, { parameters: this.parameters, line }, signal, () => {});
      if (signal.aborted) return;
      Object.assign(this, { past, pastOf: of, pastTrouble: "" });
    } catch (error) {
      if (signal.aborted) return;
      Object.assign(this, { past: null, pastTrouble: error.message || words.unreachable });
    }
    this.panel.paintPast();
  }

  // Of the past that is known, keep what the line still has.
  cutPast() {
    const { plies } = this.past;
    const { actions, outcomes } = this.line;
    const apart = plies.findIndex((ply, n) => ply.action !== actions[n] || ply.outcome !== outcomes[n]);
    if (apart < 0) return;
    this.pastOf = "";
    this.past = { ...this.past, plies: plies.slice(0, apart), values: plies[apart].values, over: false };
  }

  // What each player can expect in all at each ply; null where that has not been searched.
  estimates() {
    return Array.from({ length: this.line.actions.length + 1 }, (_, plies) => {
      const found = this.positionOf(plies);
      if (!found || !(found.over || found.each.length)) return null;
      if (found.over) return found.payoffs.map(Number);
      if (found.each.some(({ number }) => number === null)) return null;
      const values = [];
      for (const { player, number } of found.each) {
        values[player] = Number(number) + Number(found.earned[player]);
      }
      return values;
    });
  }

  async searchBack() {
    for (let plies = 0; plies <= this.line.actions.length; plies++) {
      if (!(await this.positionAt(plies))) return;
    }
    this.panel.paintPast();
  }

  // Lines that were left, the last one first; none that is only the beginning of another one.
  keepBranches(lines) {
    const isPartOf = (one, other) => shared(one, other) === one.actions.length;
    this.branches = lines.filter((each, n) => !isPartOf(each, this.line)
      && !lines.some((other, m) => m !== n && isPartOf(each, other) && (m < n || !isPartOf(other, each))))
      .slice(0, MOST_BRANCHES);
  }

  // Go into a branch; what was the line becomes one.
  async takeBranch(branch) {
    this.beginTurn();
    const line = { ...branch, start: this.line.start };
    const past = await this.ask("history", { line });
    if (!past) {
      if (this.trouble?.status === 422) this.leaveOut(branch);
      return;
    }
    const old = this.line;
    const at = shared(line, old);
    this.line = line;
    this.keepBranches([old, ...this.branches]);
    Object.assign(this, { past, pastOf: JSON.stringify(line), pastTrouble: "" });
    this.showChance(null);
    await this.look(Math.min(at + 1, line.actions.length));
  }

  removeBranch(branch) {
    this.branches = this.branches.filter((each) => each !== branch);
    this.keepAddress();
    this.panel.paintPast();
  }

  // A damaged link may hold what cannot be played.
  leaveOut(branch) {
    if (this.branches.includes(branch)) this.leftOut++;
    this.removeBranch(branch);
  }

  // What is played in a branch, as soon as the server has said it. It is asked once.
  namesOf(branch) {
    if (!this.now) return []; // nothing is solved yet
    const key = JSON.stringify([branch.actions, branch.outcomes]);
    if (!this.branchNames.has(key)) {
      this.branchNames.set(key, []);
      this.nameBranch(branch, key);
    }
    return this.branchNames.get(key);
  }

  async nameBranch(branch, key) {
    const { signal } = this.gone;
    const body = { parameters: this.parameters, line: { ...branch, start: this.line.start } };
    try {
      const { plies } = await this.source.history(this.game.name, body, signal, () => {});
      this.branchNames.set(key, plies.map((ply) => ply.name));
      if (!signal.aborted) this.panel.paintPast();
    } catch (error) {
      if (!isRefused(error)) this.branchNames.delete(key); // asked again when it is painted next
      else if (error.status === 422 && !signal.aborted) this.leaveOut(branch);
    }
  }

  get canUndo() {
    return this.cursor > 0 || this.isAskedOfPerson;
  }

  get isAskedOfPerson() {
    return Boolean(this.asking) && (this.seats[this.now.mover] === "person" || !this.isLive);
  }

  // To the last decision of a person; one ply back if there are no people.
  async undo() {
    if (!this.canUndo) return;
    if (this.isAskedOfPerson) {
      this.askFor(null);
      return;
    }
    this.beginTurn();
    const old = this.isLive ? null : this.line; // who looks back does not lose what came later
    let plies = this.cursor - 1;
    if (this.people.length) {
      while (plies > 0) {
        const before = await this.positionAt(plies);
        if (!before) return;
        if (this.seats[before.mover] === "person" && before.actions.length > 1) break;
        plies--;
      }
    }
    this.line = this.part(plies);
    if (old) this.keepBranches([old, ...this.branches]);
    this.panel.keepFocus();
    this.showChance(null);
    await this.look(plies);
  }

  async again() {
    this.stopBack?.abort();
    this.seed = newSeed();
    this.line = { start: null, actions: [], outcomes: [] };
    Object.assign(this, { branches: [], leftOut: 0, puzzle: null, past: null, pastTrouble: "", broken: false });
    this.showChance(null);
    focusOn(this.panel.heading);
    await this.look(0);
  }

  // The turn begins anew with what has been set.
  setSeat(player, seat) {
    this.seats[player] = seat;
    this.keepAddress();
    if (this.now) this.look(this.cursor);
  }

  setByHand(wanted) {
    this.byHand = wanted;
    this.keepAddress();
    if (this.asking) this.look(this.cursor);
    else if (this.now) {
      this.panel.paint();
      if (this.throwing) this.panel.focusActions();
    }
  }

  setValues(wanted) {
    this.values = wanted;
    this.keepAddress();
    this.panel.paint();
    this.panel.paintPast();
  }

  inOtherWords() {
    this.panel.build();
    this.panel.paint();
    this.panel.paintPast();
    this.panel.paintChance();
    if (this.trouble) this.fail(this.trouble);
  }

  best() {
    return this.now?.actions.filter((each) => each.best !== "no") ?? [];
  }

  drawBoard() {
    this.memory.narrow = NARROW.matches;
    this.memory.you = this.memory.below = this.people.length === 1 ? this.people[0] : undefined;
    return draw(this.now.view, this.now.text, this.memory);
  }
}

// Which puzzle a game is, from 1, and the ply at which it begins.
const isPuzzle = (puzzle) => [puzzle?.n, puzzle?.at].every((number) => Number.isSafeInteger(number) && number >= 0);

const isRefused = (error) => [409, 413, 422].includes(error.status);

// A person, and computers where nothing is said.
const seated = (seats, count) =>
  Array.from({ length: count }, (_, n) => seats[n] ?? (n ? "solution" : "person"));

function newSeed() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}
