"""Values of policies and answers to them in exact fractions; shares no code with gamedp."""

from fractions import Fraction


def solution_of(matrix, right):
    """Solve linear equations by elimination."""
    rows = [[*row, number] for row, number in zip(matrix, right, strict=True)]
    for place in range(len(rows)):
        pivot = next(row for row in range(place, len(rows)) if rows[row][place])
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [number / rows[place][place] for number in rows[place]]
        for other in range(len(rows)):
            if other != place and rows[other][place]:
                factor = rows[other][place]
                rows[other] = [
                    number - factor * own
                    for number, own in zip(rows[other], rows[place], strict=True)
                ]
    return [row[-1] for row in rows]


class Exact:
    """A model as fractions; a node is a state, and whether the places are changed."""

    def __init__(self, model, player=0, discount=1, probabilities=None):
        """Take the probabilities that are meant, without signs, where the model's are rounded."""
        self.model, self.discount = model, Fraction(discount)
        self.signed = model.probabilities.tolist()
        self.chances = probabilities or [abs(Fraction(p)) for p in self.signed]
        many = model.num_players > 2
        rewards = model.rewards[:, player] if many else model.rewards
        payoffs = model.payoffs[:, player] if many else model.payoffs
        self.rewards = list(map(Fraction, rewards.tolist()))
        self.ends = dict(
            zip(model.terminals.tolist(), map(Fraction, payoffs.tolist()), strict=True)
        )
        sides = (0,) if many else (0, 1)
        self.nodes = [(state, side) for state in range(model.num_states) for side in sides]

    def choices(self, state):
        return range(*self.model.choice_offsets[state : state + 2].tolist())

    def mover(self, state, side):
        return int(self.model.players[state]) ^ side

    def outcomes(self, choice):
        begin, end = self.model.transition_offsets[choice : choice + 2].tolist()
        for edge in range(begin, end):
            swap = int(self.signed[edge] < 0)
            yield self.chances[edge], int(self.model.successors[edge]), swap

    def worth(self, choice, side, values):
        """Return the value of a choice to player 0 if these are the values of the nodes."""
        reward = -self.rewards[choice] if side else self.rewards[choice]
        after = sum(
            chance * values[state, side ^ swap] for chance, state, swap in self.outcomes(choice)
        )
        return reward + self.discount * after

    def values(self, chances):
        """Return the values of all nodes if this says how likely each choice is in a node."""
        place = {node: number for number, node in enumerate(self.nodes)}
        matrix = [[Fraction(one == other) for other in self.nodes] for one in self.nodes]
        right = []
        for (state, side), row in zip(self.nodes, matrix, strict=True):
            right.append(Fraction(0))
            if state in self.ends:
                right[-1] = self.paid(state, side)
                continue
            for choice, share in chances(state, side):
                right[-1] += share * (-self.rewards[choice] if side else self.rewards[choice])
                for chance, after, swap in self.outcomes(choice):
                    row[place[after, side ^ swap]] -= self.discount * share * chance
        return dict(zip(self.nodes, solution_of(matrix, right), strict=True))

    def following(self, policies, free=None):
        """Return how likely each choice is in a node, by policies or by what they mean."""
        shares = [
            one if isinstance(one, list) or one is None else [*map(Fraction, one.probabilities)]
            for one in policies
        ]

        def chances(state, side):
            mover = self.mover(state, side)
            if mover == free:
                return []
            return [(choice, shares[mover][choice]) for choice in self.choices(state)]

        return chances

    def of_policies(self, policies):
        return self.at_start(self.values(self.following(policies)))

    def paid(self, state, side):
        total = Fraction(self.model.constant_sum)
        return total - self.ends[state] if side else self.ends[state]

    def after_steps(self, horizon, policies, free=None, sign=1):
        """Return the values with so many steps to go, if one player is free to do the best."""
        chances = self.following(policies, free)
        values = {
            (state, side): self.paid(state, side) if state in self.ends else Fraction(0)
            for state, side in self.nodes
        }
        for _ in range(horizon):
            before = dict(values)
            for state, side in self.nodes:
                if state in self.ends:
                    continue
                if self.mover(state, side) == free:
                    worths = [sign * self.worth(c, side, before) for c in self.choices(state)]
                    values[state, side] = sign * max(worths)
                else:
                    shares = chances(state, side)
                    values[state, side] = sum(p * self.worth(c, side, before) for c, p in shares)
        return values

    def moves(self, policies):
        """Return how likely which nodes follow each other."""
        chances = self.following(policies)
        found = {node: {} for node in self.nodes}
        for state, side in self.nodes:
            for choice, share in [] if state in self.ends else chances(state, side):
                for chance, after, swap in self.outcomes(choice):
                    row, node = found[state, side], (after, side ^ swap)
                    row[node] = row.get(node, 0) + share * chance
        return found

    def starts(self):
        model = self.model
        pairs = zip(
            model.initial_states.tolist(), model.initial_probabilities.tolist(), strict=True
        )
        found = dict.fromkeys(self.nodes, Fraction(0))
        for state, p in pairs:
            found[state, int(p < 0)] += abs(Fraction(p))
        return found

    def visits(self, policies):
        """Return how often each node is visited."""
        moves, starts = self.moves(policies), self.starts()
        matrix = [
            [Fraction(one == other) - moves[other].get(one, 0) for other in self.nodes]
            for one in self.nodes
        ]
        return dict(
            zip(self.nodes, solution_of(matrix, [starts[n] for n in self.nodes]), strict=True)
        )

    def reach(self, policies, target):
        """Return how likely each node leads to a target."""
        moves, matrix, right = self.moves(policies), [], []
        for node in self.nodes:
            is_over = node[0] in self.ends or target[node[0]]
            after = {} if is_over else moves[node]
            matrix.append([Fraction(node == other) - after.get(other, 0) for other in self.nodes])
            right.append(Fraction(bool(target[node[0]])))
        return dict(zip(self.nodes, solution_of(matrix, right), strict=True))

    def survival(self, policies, plies):
        """Return how likely play is not over after 0, 1, ... plies."""
        moves, now, found = self.moves(policies), self.starts(), []
        for _ in range(plies + 1):
            found.append(sum(p for (state, _), p in now.items() if state not in self.ends))
            after = dict.fromkeys(self.nodes, Fraction(0))
            for node, p in now.items():
                for other, chance in moves[node].items():
                    after[other] += p * chance
            now = after
        return found

    def average(self, policies):
        """Return the average reward a step, where all states lead to the first one."""
        chances, moves = self.following(policies), self.moves(policies)
        nodes = [node for node in self.nodes if node[1] == 0]
        matrix, right = [], []
        for (
            state,
            side,
        ) in nodes:  # h + g = r + P h with h = 0 in the first one, whose place g takes
            row = [
                Fraction((state, side) == other) - moves[state, side].get(other, 0)
                for other in nodes
            ]
            row[0] = Fraction(1)
            matrix.append(row)
            right.append(sum(p * self.rewards[c] for c, p in chances(state, side)))
        return solution_of(matrix, right)[0]

    def of_response(self, policies, player, sign):
        """Let a player improve until nothing does better; the others keep to their policies."""
        taken, others = {}, self.following(policies, player)

        def chances(state, side):
            if self.mover(state, side) == player:
                return [(taken.setdefault((state, side), self.choices(state)[0]), Fraction(1))]
            return others(state, side)

        while True:
            values, before = self.values(chances), dict(taken)
            for (state, side), old in before.items():
                worths = {c: sign * self.worth(c, side, values) for c in self.choices(state)}
                best = max(worths, key=worths.get)
                if worths[best] > worths[old]:
                    taken[state, side] = best
            if taken == before:
                return self.at_start(values)

    def at_start(self, values):
        return sum(p * values[node] for node, p in self.starts().items())
