"""Games of staged games, and what they say of exact totals."""

import attrs
import numpy as np
import pytest
from staged_games import Date, Debts, Journey, StagedWubbel, Tosses, WubbelTurn

import gamedp
from gamedp.errors import InvalidModelError, InvalidParameterError, UnsupportedProblemError
from gamedp.games.kniffel import Kniffel
from gamedp.games.wubbel import ROLL
from gamedp.simulation import kernels, simulate_pairs, staged_games, staged_players

SMALL = Kniffel(dice=2, faces=3, throws=2, threshold=5, upper_bonus=7)


def solved(game, **options):
    # Compiled, small games take longer than to be solved.
    return gamedp.solve(game, tolerance=1e-9, compile="never", **options)


@attrs.frozen
class FreeTosses(Tosses):
    def reward(self, state, action, player):
        return 0.0


@attrs.frozen
class WholeDebts(Debts):
    """Debts whose choice costs nothing: all totals are whole numbers."""

    def stage(self):
        return FreeTosses()


@attrs.frozen
class PaidTurn(WubbelTurn):
    """Each roll costs the mover something."""

    def reward(self, state, action, player):
        return -0.125 * (action == ROLL) * (1 - 2 * player)


@attrs.frozen
class PaidWubbel(StagedWubbel):
    """Wubbel whose points are paid at once, by the other player; places are swapped meanwhile."""

    def stage(self):
        return PaidTurn(self.goal)

    def reward(self, context, end, player):
        return end.turn * (1.0 if player == context.player else -1.0)


@pytest.fixture(scope="module")
def small():
    return solved(SMALL)


def facts(found):
    """Return all that games have brought."""
    return found.outcomes, found.means, found.deviations, found.mean_plies, found.unfinished


def test_games_depend_neither_on_threads_nor_on_slices(monkeypatch):
    solution = solved(Journey())
    pair = [solution, solution]
    one, three = (
        facts(gamedp.simulate(Journey(), pair, games=500, seed=3, threads=threads))
        for threads in (1, 3)
    )
    monkeypatch.setattr(staged_games, "CONTEXTS", 2)
    assert one == three == facts(gamedp.simulate(Journey(), pair, games=500, seed=3, threads=2))
    # A slice of games is added up on its own, which may round sums otherwise.
    monkeypatch.setattr(staged_games, "GAMES_TOGETHER", 64)
    sliced = gamedp.simulate(Journey(), pair, games=500, seed=3)
    assert sliced.outcomes == one[0]
    assert one != facts(gamedp.simulate(Journey(), pair, games=500, seed=4))


def test_the_compiled_loop_plays_the_games_of_the_plain_one(small, monkeypatch):
    compiled = gamedp.simulate(SMALL, small, games=40, seed=11)
    monkeypatch.setattr(kernels, "walk_stage_jit", kernels.walk_stage)
    monkeypatch.setattr(kernels, "mixed_jit", kernels.mixed)
    assert facts(compiled) == facts(gamedp.simulate(SMALL, small, games=40, seed=11))


@pytest.mark.slow
@pytest.mark.parametrize("optimum", ["max", "min"])
@pytest.mark.parametrize("game", [SMALL, WholeDebts()])
def test_totals_agree_with_their_exact_distribution(game, optimum):
    # By a seed that is fixed: a p-value below 1e-4 comes once in 10,000 right programs.
    solution = solved(game, objective=gamedp.TotalReward(optimum=optimum))
    found = gamedp.simulate(game, solution, games=3000, seed=5)
    exact = gamedp.stages.distribution(solution)
    assert found.agrees_with(exact) > 1e-4
    assert found.agrees_with(solution) > 1e-4
    assert set(found.outcomes[0]) <= set(exact.totals.tolist())
    assert found.finished == 3000 == sum(found.outcomes[0].values())
    low, high = found.interval(exact.quantile(0.5), confidence=0.9999)
    assert low <= exact.probability(exact.quantile(0.5)) <= high


def test_wrong_totals_do_not_agree(small):
    found = gamedp.simulate(SMALL, small, games=3000, seed=5)
    exact = gamedp.stages.distribution(small)
    worse = gamedp.stages.distribution(solved(SMALL, objective=gamedp.TotalReward(optimum="min")))
    assert found.agrees_with(worse) == 0.0  # some totals never come up there
    moved = np.roll(exact.probabilities, 1)
    moved[1:] += moved[0] / len(moved[1:])
    shifted = gamedp.stages.Distribution(exact.totals[1:], moved[1:] / moved[1:].sum())
    assert found.agrees_with(shifted) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("game", [Journey(), StagedWubbel(6), PaidWubbel(6)])
@pytest.mark.parametrize("optima", [("max", "max"), ("max", "min"), ("min", "max")])
def test_each_seat_follows_its_own_solution(game, optima):
    pair = [solved(game, objective=gamedp.TotalReward(optimum=optimum)) for optimum in optima]
    flat = gamedp.compile(gamedp.stages.Flattened(game), compile="never")

    def policy(solution):
        def choose(position):
            inside = solution.inside(position.context).model
            if inside.rules.game.is_terminal(position.state):
                return 0
            return solution.inside(position.context).best_action(position.state)

        return choose

    true = gamedp.evaluate(flat, [policy(solution) for solution in pair])
    found = gamedp.simulate(game, pair, games=4000, seed=2)
    for player in (0, 1):
        error = found.standard_error(player)
        assert abs(found.means[player] - true.value(player=player)) < 4 * error + 1e-9
    # The way from the end of a stage to the next context is an action of the flattened game.
    assert found.mean_plies < true.mean_plies
    assert found.names == ("optimal", "optimal")


def greedy(game):
    """Return who takes the action that earns most at once, the first of these."""
    flat = gamedp.stages.Flattened(game)

    def choose(position):
        return max(flat.actions(position), key=lambda action: flat.reward(position, action, 0))

    return choose


def last(game):
    """Return who takes the last action that there is."""
    flat = gamedp.stages.Flattened(game)
    return lambda position: max(flat.actions(position))


@pytest.mark.parametrize("which", ["greedy", "last", "random", "mixed", "table"])
def test_who_is_asked_in_positions_agrees_with_the_exact_value(which):
    game = Debts()
    flat = gamedp.stages.Flattened(game)
    made, last_one = gamedp.compile(flat, compile="never"), last(game)

    def mixed(position):
        actions = list(flat.actions(position))
        return {actions[0]: 0.25, last_one(position): 0.75} if len(actions) > 1 else actions[0]

    policy = {
        "greedy": greedy(game),
        "last": last_one,
        "random": gamedp.play.RandomPlayer(flat),
        "mixed": mixed,
        "table": gamedp.Policy.uniform(made),
    }[which]
    true = gamedp.evaluate(made, policy)
    found = gamedp.simulate(game, policy, games=2000, seed=4, compile="never")
    assert found.finished == 2000
    assert found.agrees_with(true) > 1e-4
    assert found.deviations[0] > 0


def test_a_known_way_to_play_kniffel_agrees_with_its_exact_value():
    game = Kniffel(dice=2, faces=2, throws=1, threshold=3, upper_bonus=7)
    policy = greedy(game)
    true = gamedp.evaluate(gamedp.stages.Flattened(game), policy, compile="never")
    found = gamedp.simulate(game, policy, games=1000, seed=4, compile="never")
    assert found.agrees_with(true) > 1e-4
    assert (
        found.means[0]
        > gamedp.simulate(game, last(game), games=300, seed=4, compile="never").means[0]
    )  # it is better than nothing


def test_a_solution_that_is_asked_plays_its_own_games(small):
    def choose(position):
        return small.inside(position.context).best_action(position.state)

    asked = gamedp.simulate(SMALL, choose, games=60, seed=6, compile="never")
    assert facts(asked) == facts(gamedp.simulate(SMALL, small, games=60, seed=6))
    assert asked.names == ("choose",)


def bold(position):
    """Save from more points on the farther behind; player 1 one point earlier."""
    player, own, opponent = position.context
    wanted = 2 + (opponent > own) - player
    return int(position.state.turn >= wanted)


def timid(position):
    return int(position.state.turn > 0)


@attrs.frozen
class Apart(gamedp.stages.Flattened):
    """No position represents another one."""

    def canonical(self, position):
        return position, False


def test_rules_are_asked_in_the_contexts_of_the_game_and_not_in_those_that_represent_them():
    game = StagedWubbel(5)
    flat = gamedp.compile(Apart(game), compile="never")
    best = solved(game)
    for pair in ([bold, timid], [timid, bold], [bold, bold]):
        true = gamedp.evaluate(flat, pair)
        one, three = (
            gamedp.simulate(game, pair, games=3000, seed=2, threads=threads, compile="never")
            for threads in (1, 3)
        )
        assert facts(one) == facts(three)
        assert one.agrees_with(true) > 1e-4
        assert one.agrees_with(true, player=1) > 1e-4
    against = gamedp.simulate(game, [best, timid], games=2000, seed=2)
    assert against.names == ("optimal", "timid")
    assert against.means[0] > 0.5


def test_staged_games_stop_once_enough_is_known():
    game = StagedWubbel(5)
    true = gamedp.evaluate(Apart(game), [bold, timid], compile="never").value()
    found = gamedp.simulate(
        game, [bold, timid], games=10**6, seed=3, width=0.04, compile="never"
    ).sequential
    assert found.width <= 0.04
    assert found.low <= true <= found.high


def test_staged_games_with_rewards_stop_by_an_interval_that_is_said_to_be_approximate(small):
    found = gamedp.simulate(SMALL, small, games=20_000, seed=3, width=0.19)
    known = found.sequential
    assert known.is_approximate
    assert known.width <= 0.19
    assert (known.looks, found.games) == (2, 16_384)
    assert known.low <= small.value() <= known.high
    assert "approximate" in found._repr_html_()
    ends = gamedp.policies.student_interval(found.means[0], found.deviations[0], found.games)
    assert known.low < ends[0] < ends[1] < known.high  # all looks together are as sure as this one
    one = gamedp.simulate(SMALL, small, games=1, seed=3, width=0.5).sequential
    assert (one.low, one.high) == (-np.inf, np.inf)


@attrs.frozen
class FreeWubbel(StagedWubbel):
    """Wubbel that declares a reward, of nothing."""

    def reward(self, context, end, player):
        return 0.0


def test_a_reward_that_is_always_zero_is_none():
    pair = [gamedp.play.RandomPlayer(FreeWubbel(4))] * 2
    found = gamedp.simulate(FreeWubbel(4), pair, games=1000, seed=3, width=0.05, compile="never")
    same = [gamedp.play.RandomPlayer(StagedWubbel(4))] * 2
    plain = gamedp.simulate(StagedWubbel(4), same, games=1000, seed=3, width=0.05, compile="never")
    assert found.sequential == plain.sequential
    assert not found.sequential.is_approximate
    assert facts(found) == facts(plain)
    paid = [gamedp.play.RandomPlayer(PaidWubbel(4))] * 2
    other = gamedp.simulate(PaidWubbel(4), paid, games=100, seed=3, width=0.05, compile="never")
    assert other.sequential.is_approximate


def test_contexts_that_no_game_is_in_are_forgotten(monkeypatch):
    game, most = StagedWubbel(9), []
    pair = [bold, timid]
    options = {"games": 100, "seed": 2, "threads": 2, "compile": "never"}
    expected = facts(gamedp.simulate(game, pair, **options))
    both = simulate_pairs(game, pair, pairs=100, seed=2, threads=2, compile="never").seatings
    kept = staged_players.OwnContexts.kept

    def watched(self, own):
        own = kept(self, own)
        most.append((len(self.contexts), len(set(own.tolist()))))
        return own

    monkeypatch.setattr(staged_players.OwnContexts, "kept", watched)
    assert facts(gamedp.simulate(game, pair, **options)) == expected
    assert max(size for size, _ in most) > 60
    most.clear()
    monkeypatch.setattr(staged_players, "CACHED_CONTEXTS", 10)
    assert facts(gamedp.simulate(game, pair, **options)) == expected
    assert all(size <= max(10, used) for size, used in most)
    again = simulate_pairs(game, pair, pairs=100, seed=2, threads=2, compile="never").seatings
    assert list(map(facts, again)) == list(map(facts, both))


@attrs.frozen
class Lying:
    """A sweeper that is compiled to say something else than the rules."""

    true: object
    says: dict

    def __getattr__(self, name):
        return getattr(self.true, name)

    def follow(self, codes):
        onward = self.true.follow(codes)
        wrong = {name: np.full_like(getattr(onward, name), to) for name, to in self.says.items()}
        return attrs.evolve(onward, **wrong)


@pytest.mark.parametrize("says", [{"rewards": np.inf}, {"following": -1}], ids=["pays", "forbids"])
@pytest.mark.parametrize("asked", [False, True], ids=["solution", "rule"])
def test_compiled_rules_that_say_something_else_are_named(small, says, asked):
    model = attrs.evolve(small.model, sweeper=Lying(small.model.sweeper, says))
    policy = gamedp.play.RandomPlayer(SMALL) if asked else attrs.evolve(small, model=model)
    with pytest.raises(InvalidModelError, match=r"the compiled rules fail in Sheet.*plain"):
        gamedp.simulate(model, policy, games=5, seed=1)


@pytest.mark.parametrize("game", [StagedWubbel(5), PaidWubbel(5)], ids=["plain", "paid"])
def test_pairs_of_staged_games_share_their_dice(game):
    flat = gamedp.stages.Flattened(game)
    random = gamedp.play.RandomPlayer(game)
    same = simulate_pairs(game, [timid, timid], pairs=300, seed=3, compile="never")
    assert same.means[0] == game.constant_sum / 2  # both games of each pair go alike
    assert same.deviation == 0
    pair = [solved(game), random]
    both = simulate_pairs(game, pair, pairs=400, seed=3)
    again = simulate_pairs(game, pair, pairs=400, seed=3, threads=2)
    assert (again.means, again.deviation) == (both.means, both.deviation)
    asked = [_asked(pair[0]), gamedp.play.RandomPlayer(flat)]
    true = [gamedp.evaluate(flat, order, compile="never") for order in (asked, asked[::-1])]
    assert both.agrees_with(*true) > 1e-4
    for each, one in zip(both.seatings, true, strict=True):
        assert each.agrees_with(one) > 1e-4
    assert both.finished == 400


def _asked(solution):
    """Return the solution as a function of a position."""

    def choose(position):
        inside = solution.inside(position.context)
        if inside.model.rules.game.is_terminal(position.state):
            return 0
        return inside.best_action(position.state)

    return choose


@attrs.frozen
class Changed(StagedWubbel):
    """It may begin with the second player."""

    def initial_state(self):
        return [(0.25, self._begin(0)), (0.75, self._begin(1))]

    def _begin(self, player):
        return StagedWubbel.initial_state(self)._replace(player=player)


def test_a_game_may_begin_with_the_seats_changed():
    solution = solved(Changed(6))
    found = gamedp.simulate(Changed(6), [solution, solution], games=4000, seed=2)
    assert found.agrees_with(solution) > 1e-4
    assert found.agrees_with(solution, player=1) > 1e-4
    own = solution.value(StagedWubbel(6).initial_state())
    assert abs(found.means[0] - own) > 5 * found.standard_error()  # to begin is an advantage


def test_games_that_are_left_on_the_way_say_nothing_of_the_exact_value(small):
    model = small.model
    found = gamedp.simulate(model, small, games=50, seed=1, max_plies=7)
    assert (found.unfinished, found.finished, found.mean_plies) == (50, 0, 7.0)
    for exact in (small, gamedp.stages.distribution(small)):
        with pytest.raises(UnsupportedProblemError, match="none of 50 games has ended"):
            found.agrees_with(exact)
    journey = solved(Journey())
    part = gamedp.simulate(Journey(), [journey, journey], games=200, seed=1, max_plies=10)
    assert 0 < part.unfinished < 200
    with pytest.raises(UnsupportedProblemError, match="games are unfinished; raise max_plies"):
        part.agrees_with(journey)


@attrs.frozen
class Over(Journey):
    def initial_state(self):
        return Date(0, 1)


def test_a_game_that_is_over_at_once_pays():
    solution = solved(Over())
    found = gamedp.simulate(Over(), [solution, solution], games=9, seed=1)
    assert (found.outcomes, found.mean_plies) == (({1.0: 9}, {-1.0: 9}), 0.0)


def test_what_cannot_play_is_refused(small):
    other = solved(Journey())
    flat = gamedp.stages.Flattened(Journey())
    others = (gamedp.play.RandomPlayer(flat), gamedp.solve(flat, compile="never"))
    for wrong in others:
        with pytest.raises(InvalidParameterError, match="cannot play a staged game; give the Stag"):
            gamedp.simulate(SMALL, wrong)
    with pytest.raises(InvalidParameterError, match="is not a policy"):
        gamedp.simulate(SMALL, 7)
    for wrong, words in (
        (lambda _: 99, r"chooses 99 in Position\(context=.*, where the actions are \["),
        (lambda _: None, "an action is an integer"),
        (lambda _: {0: 0.5}, r"probabilities of .* are invalid"),
        (lambda _: {}, r"probabilities of .* are invalid"),
    ):
        with pytest.raises(InvalidParameterError, match=words):
            gamedp.simulate(SMALL, wrong, games=5, seed=1, compile="never")
    with pytest.raises(InvalidParameterError, match="2 policies are given for a game of 1 players"):
        gamedp.simulate(SMALL, [small, small])
    for given in (SMALL, small.model, Journey(days=2)):
        wrong = [small] * 2 if isinstance(given, Journey) else other
        with pytest.raises(InvalidParameterError, match="is not a solution of"):
            gamedp.simulate(given, wrong)
    with pytest.raises(InvalidParameterError, match="leave by_rules out"):
        gamedp.simulate(SMALL, small, by_rules=True)
    with pytest.raises(InvalidParameterError, match="leave by_rules out"):
        simulate_pairs(SMALL, [small] * 2, by_rules=True)
    with pytest.raises(UnsupportedProblemError, match="pairs are of two policies"):
        simulate_pairs(SMALL, small)
    with pytest.raises(InvalidParameterError, match="searches, and there is no search of staged"):
        gamedp.simulate(SMALL, gamedp.play.LevelPlayer(3))
    found = gamedp.simulate(SMALL, small, games=9, seed=1)
    with pytest.raises(UnsupportedProblemError, match="is player 0's; name no other player"):
        found.agrees_with(gamedp.stages.distribution(small), player=1)


def test_a_solution_that_was_stopped_before_it_got_there_is_refused():
    with pytest.raises(gamedp.NotSolvedError) as caught:
        solved(Journey(days=3), solver=gamedp.stages.StageInduction(max_sweeps=1))
    solution = caught.value.solution
    with pytest.raises(UnsupportedProblemError, match="the solution knows no values after"):
        gamedp.simulate(Journey(days=3), [solution] * 2, games=9)


def test_what_needs_a_table_of_positions_says_so(small):
    uses = (
        lambda given: gamedp.best_response(given, lambda state: 0),
        lambda given: gamedp.cross_table(given, {"one": lambda state: 0}),
    )
    for use in uses:
        for given in (SMALL, small.model):
            with pytest.raises(UnsupportedProblemError, match="is staged, and has no table of"):
                use(given)
