"""Games without chance in which play may go on for ever, and whose answers are known."""

from typing import NamedTuple

import attrs
import numpy as np

import gamedp


class Chase(NamedTuple):
    robber_moves: int
    cops: tuple[int, ...]
    robber: int


def _table(edges, size):
    """Return which places may be moved to from which, staying included: (size, size) of 0 and 1."""
    table = np.eye(size, dtype=np.int64)
    for one, other in edges:
        table[one, other] = table[other, one] = 1
    return table


@attrs.frozen
class Pursuit:
    """Cops and robber on a graph, of which they all see everything.

    The cops choose their places, then the robber chooses one. The cops move, all at once, then the
    robber, and so on; whoever moves may also stay. A cop on the robber's place ends the game. The
    cops' action is their new places, read as a number to the base of the graph's size.

    R. Nowakowski, P. Winkler, "Vertex-to-vertex pursuit in a graph", Discrete Mathematics 43
    (1983); A. Quilliot, thesis, Paris 1978.
    """

    edges: tuple[tuple[int, int], ...]
    size: int
    cops: int = 1
    table: np.ndarray = attrs.field(init=False, eq=False, repr=False)

    num_players = 2

    def __attrs_post_init__(self):
        object.__setattr__(self, "table", _table(self.edges, self.size))

    def initial_state(self):
        return Chase(0, (-1,) * self.cops, -1)

    def is_terminal(self, state):
        for cop in state.cops:
            if cop >= 0 and cop == state.robber:
                return True
        return False

    def player(self, state):
        return state.robber_moves

    def actions(self, state):
        if state.robber_moves == 1:
            for place in range(self.size):
                if state.robber < 0 or self.table[state.robber, place] == 1:
                    yield place
        else:
            for code in range(self.size ** len(state.cops)):
                if self.may_go(state.cops, code):
                    yield code

    def may_go(self, cops, code):
        for cop in cops:
            if cop >= 0 and self.table[cop, code % self.size] == 0:
                return False
            code //= self.size
        return True

    def outcomes(self, state, action):
        if state.robber_moves == 1:
            yield 1.0, Chase(0, state.cops, action)
        else:
            cops = state.cops
            for index in range(len(cops)):
                cops = gamedp.with_item(cops, index, action % self.size)
                action //= self.size
            yield 1.0, Chase(1, cops, state.robber)

    def payoff(self, state, player):
        return 1.0 if player == 0 else -1.0


class Ending(NamedTuple):
    player: int
    king: int
    pawn: int
    lone_king: int


@attrs.frozen
class KingAndPawn:
    """King and pawn (player 0) against a lone king, as in chess, on a board of any size.

    A square is ``row * size + column``, and the pawn moves towards higher rows: one step, or two
    from row 1. A king may not be next to the other one, nor the lone king where the pawn attacks.
    A pawn on the last row wins, unless the lone king takes it at once: it becomes a queen, or a
    rook where a queen would leave the other one without a move. A lone king that has no move is
    mated if the pawn attacks it, and else it is a draw, as it is if it takes the pawn, or if the
    other side has no move. The game may start in any position.
    """

    size: int = 8

    num_players = 2

    def initial_state(self):
        squares = self.size**2
        states = [
            Ending(player, king, pawn, lone_king)
            for player in range(2)
            for king in range(squares)
            for pawn in range(self.size, squares - self.size)
            for lone_king in range(squares)
            if self.is_legal(Ending(player, king, pawn, lone_king))
        ]
        return [(1 / len(states), state) for state in states]

    def is_legal(self, state):
        different = state.king not in (state.pawn, state.lone_king)
        check = state.player == 0 and self.attacks(state.pawn, state.lone_king)
        return (
            different
            and state.lone_king != state.pawn
            and not check
            and not self.next_to(state.king, state.lone_king)
        )

    def next_to(self, one, other):
        rows = abs(one // self.size - other // self.size)
        columns = abs(one % self.size - other % self.size)
        return one != other and rows <= 1 and columns <= 1

    def attacks(self, pawn, square):
        """Say whether the pawn could take a piece on the square."""
        rows = square // self.size - pawn // self.size
        columns = abs(square % self.size - pawn % self.size)
        return pawn >= 0 and rows == 1 and columns == 1

    def promoted(self, state):
        return state.pawn >= self.size * (self.size - 1)

    def is_terminal(self, state):
        if state.pawn < 0 or self.promoted(state):
            return True
        for _ in self.actions(state):
            return False
        return True

    def player(self, state):
        return state.player

    def actions(self, state):
        """Yield the square that a king goes to; squares beyond the board are the pawn's steps."""
        squares = self.size * self.size
        mover = state.king if state.player == 0 else state.lone_king
        other = state.lone_king if state.player == 0 else state.king
        for square in range(squares):
            if not self.next_to(mover, square) or self.next_to(other, square) or square == other:
                continue
            if state.player == 0 and square != state.pawn:
                yield square
            # The lone king may take the pawn: the other one is not next to it, as just seen.
            if state.player == 1 and not self.attacks(state.pawn, square):
                yield square
        if state.player == 0:
            ahead = state.pawn + self.size
            if ahead not in (state.king, state.lone_king):
                yield squares + 1
                further = ahead + self.size
                free = further not in (state.king, state.lone_king)
                if state.pawn // self.size == 1 and further < squares and free:
                    yield squares + 2

    def outcomes(self, state, action):
        squares = self.size * self.size
        if state.player == 1:
            pawn = -1 if action == state.pawn else state.pawn
            yield 1.0, Ending(0, state.king, pawn, action)
        elif action < squares:
            yield 1.0, Ending(1, action, state.pawn, state.lone_king)
        else:
            pawn = state.pawn + self.size * (action - squares)
            yield 1.0, Ending(1, state.king, pawn, state.lone_king)

    def payoff(self, state, player):
        if self.promoted(state):
            is_taken = self.next_to(state.pawn, state.lone_king) and not self.next_to(
                state.pawn, state.king
            )
            won = not is_taken
        else:
            won = state.player == 1 and self.attacks(state.pawn, state.lone_king)
        if not won:
            return 0.0
        return 1.0 if player == 0 else -1.0
