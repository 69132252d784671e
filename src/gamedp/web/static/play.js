// A game under way: who sits where, what has been played, and whose turn it is.
//
// The line of actions and outcomes is all there is to a game; the server is asked for each position,
// and remembers nothing. `cursor` is the ply that is looked at; an action there cuts the rest off.

import { packed, shared, toAddress, unpacked } from "./address.js";
import { animate, draw, fall } from "./boards.js";
import { mayFocus, pause } from "./dom.js";
import { Panel } from "./panel.js";
import { isSeat, playerOf } from "./seats.js";
import { words } from "./words.js";

const THINK = 450; // milliseconds that a computer's turn takes at least, to be followed by eye
const KEPT = 400; // positions that are remembered
const MOST_SEATS = 16; // that an address may say
const MOST_BRANCHES = 12;

export class Play {
  constructor(page, source, game, rest) {
    Object.assign(this, { page, source, game });
    const given = unpacked(rest);
    this.parameters = given?.parameters ?? {};
    this.line = given?.line ?? { start: null, actions: [], outcomes: [] };
    this.broken = !given;
    const branches = Array.isArray(rest.branches) ? rest.branches.slice(0, MOST_BRANCHES) : [];
    this.keepBranches(branches.flatMap((each) => unpacked(Object(each))?.line ?? []));
    this.branchNames = new Map();
    const seats = Array.isArray(rest.seats) && rest.seats.length <= MOST_SEATS
      && rest.seats.every(isSeat) ? rest.seats : [];
    this.seats = seated(seats, seats.length || game.players);
    this.seed = Number.isSafeInteger(rest.seed) && rest.seed >= 0 ? rest.seed : newSeed();
    this.byHand = rest.hand === true;
    this.values = rest.values !== false;
    this.cursor = this.line.actions.length;
    this.positions = new Map();
    this.memory = {};
    this.hasChance = false; // as far as it has been seen
    this.past = null;
    this.now = null; // the position that is shown
    this.asking = null; // an action of which chance is to be entered
    this.busy = false;
    this.turn = 0; // counts what has been begun, so that what is late is known
    this.panel = new Panel(this);
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

  // The address, and what belongs to it.

  address() {
    const rest = packed(this.parameters, this.line);
    if (this.seats.some((seat, n) => seat !== (n ? "solution" : "person"))) rest.seats = this.seats;
    rest.seed = this.seed;
    if (this.byHand) rest.hand = true;
    if (!this.values) rest.values = false;
    if (this.branches.length) rest.branches = this.branches.map((each) => packed({}, { ...each, start: null }));
    return toAddress(this.game.name, rest);
  }

  isAt(hash) {
    return hash === this.address();
  }

  keepAddress() {
    history.replaceState(null, "", this.address());
  }

  leave() {
    this.beginTurn();
    this.stopBack?.abort();
  }

  // What was asked before comes too late: nobody waits for it any more.
  beginTurn() {
    this.turn++;
    this.stopAsking?.abort();
  }

  // Asking, with progress, and errors as one sentence.

  async ask(what, body) {
    const turn = this.turn;
    this.stopAsking = new AbortController();
    const late = setTimeout(() => turn === this.turn && this.panel.wait(), 250);
    try {
      const answer = await this.source[what](
        this.game.name, { parameters: this.parameters, ...body }, this.stopAsking.signal,
        (news) => turn === this.turn && this.panel.progress(news));
      return turn === this.turn ? answer : null;
    } catch (error) {
      if (turn !== this.turn) return null;
      if (error.name === "AbortError") this.panel.fail(words.stopped, () => this.resume());
      else this.panel.fail(error.message || words.unreachable, () => this.resume());
      return null;
    } finally {
      clearTimeout(late);
      if (turn === this.turn) this.panel.ready();
    }
  }

  stop() {
    this.stopAsking?.abort();
  }

  resume() {
    this.beginTurn();
    this.busy = false;
    this.panel.clear();
    this.look(this.cursor);
  }

  part(plies) {
    const { start, actions, outcomes } = this.line;
    return { start, actions: actions.slice(0, plies), outcomes: outcomes.slice(0, plies) };
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
      this.panel.fail(words.badAddress);
      return;
    }
    if (mayFocus()) this.panel.heading.focus();
    await this.look(this.cursor);
  }

  // Show a ply; go on from it if it is the last one.
  async look(plies) {
    this.beginTurn();
    this.busy = false;
    this.asking = null;
    this.cursor = plies;
    const { turn } = this;
    const answer = await this.positionAt(plies);
    if (!answer) return;
    if (!plies) this.line = { ...this.line, start: answer.line.start };
    if (answer.view?.kind === "heaps" && plies && !this.memory.counts) {
      // Who comes by a link sees a board as wide as who has played from the start.
      this.memory.counts = (await this.positionAt(0))?.view?.counts;
      if (turn !== this.turn) return;
    }
    if (answer.players !== this.seats.length) {
      // How many play may be a parameter of the game.
      this.seats = seated(this.seats, answer.players);
      this.panel.build();
      this.panel.heading.focus();
    }
    this.now = answer;
    this.keepAddress();
    this.panel.paint();
    this.lookBack();
    await this.goOn();
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
        this.asking = { action: answer.pending.action, name: answer.pending.name,
          chance: answer.pending.chance };
        this.panel.paint();
        this.panel.focusActions();
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
      this.asking = { action, name: entry.name, chance: entry.chance };
      this.panel.paint();
      this.panel.focusActions();
      return;
    }
    await this.take({ action, seed: this.seed });
  }

  async enter(outcome) {
    const { action } = this.asking;
    this.asking = null;
    await this.take({ action, outcome });
  }

  dontEnter() {
    this.asking = null;
    this.panel.paint();
    this.panel.focusActions();
  }

  async take(then) {
    this.beginTurn();
    this.busy = true;
    this.panel.paint();
    const answer = await this.ask("position", { line: this.part(this.cursor), then });
    this.busy = false;
    if (!answer) return;
    await this.arrive(answer);
    await this.goOn();
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
    this.panel.keepFocus();
    if (entry?.chance.length > 1) {
      this.panel.showChance(answer.played);
      if (seen) await fall(this.panel.tray, seen);
    } else this.panel.showChance(null);
    if (turn !== this.turn) return;
    this.panel.paintBoard();
    await animate(this.panel.board, before.view, answer.view, action);
    if (turn !== this.turn) return;
    this.busy = false;
    this.panel.paint();
    this.lookBack();
  }

  async lookBack() {
    const line = this.line;
    try {
      const past = await this.source.history(
        this.game.name, { parameters: this.parameters, line }, this.backSignal(), () => {});
      if (line !== this.line) return;
      this.past = past;
      this.panel.paintPast();
    } catch (error) {
      if (error.name !== "AbortError") {
        this.past = null;
        this.panel.paintPast();
      }
    }
  }

  // What each player can expect in all at each ply; null where that has not been searched.
  estimates() {
    return Array.from({ length: this.line.actions.length + 1 }, (_, plies) => {
      const found = this.positions.get(JSON.stringify(this.part(plies)));
      if (!found || !(found.over || found.each.length)) return null;
      if (found.over) return found.payoffs.map(Number);
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
    const at = shared(branch, this.line);
    const old = this.line;
    this.line = { ...branch, start: old.start };
    this.keepBranches([old, ...this.branches]);
    this.past = null;
    this.panel.showChance(null);
    await this.look(Math.min(at + 1, branch.actions.length));
  }

  removeBranch(branch) {
    this.branches = this.branches.filter((each) => each !== branch);
    this.keepAddress();
    this.panel.paintPast();
  }

  // What is played in a branch, as soon as the server has said it.
  namesOf(branch) {
    if (!this.now) return null; // nothing is solved yet
    const key = JSON.stringify(branch);
    if (!this.branchNames.has(key)) {
      this.branchNames.set(key, null);
      const body = { parameters: this.parameters, line: { ...branch, start: this.line.start } };
      this.source.history(this.game.name, body).then((past) => {
        this.branchNames.set(key, past.plies.map((ply) => ply.name));
        this.panel.paintPast();
      }, () => this.branchNames.delete(key));
    }
    return this.branchNames.get(key);
  }

  backSignal() {
    this.stopBack?.abort();
    this.stopBack = new AbortController();
    return this.stopBack.signal;
  }

  // To the last decision of a person; one ply back if there are no people.
  async undo() {
    if (!this.cursor) return;
    this.beginTurn();
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
    this.past = null;
    this.panel.keepFocus();
    this.panel.showChance(null);
    await this.look(plies);
  }

  async again() {
    this.leave();
    this.seed = newSeed();
    this.line = { start: null, actions: [], outcomes: [] };
    this.branches = [];
    this.past = null;
    this.panel.showChance(null);
    this.panel.heading.focus();
    await this.look(0);
  }

  setSeat(player, seat) {
    this.seats[player] = seat;
    this.beginTurn();
    this.busy = false;
    this.asking = null;
    this.keepAddress();
    this.panel.paint();
    this.panel.paintPast();
    this.goOn();
  }

  setByHand(wanted) {
    this.byHand = wanted;
    this.keepAddress();
  }

  setValues(wanted) {
    this.values = wanted;
    this.keepAddress();
    this.panel.paint();
    this.panel.paintPast();
  }

  inOtherWords() {
    this.panel.build();
    if (this.now) this.panel.paint();
    this.panel.paintPast();
  }

  best() {
    return this.now?.actions.filter((each) => each.best !== "no") ?? [];
  }

  drawBoard() {
    return draw(this.now.view, this.now.text, this.memory);
  }
}

// A person, and computers where nothing is said.
const seated = (seats, count) =>
  Array.from({ length: count }, (_, n) => seats[n] ?? (n ? "solution" : "person"));

function newSeed() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}
