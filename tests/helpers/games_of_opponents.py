"""Games of two opponents who can keep each other from an end."""

from hypothesis import strategies as st

import gamedp


@st.composite
def games_of_opponents(draw, rewards):
    """Draw a game of two ends, in which every state has a choice that leads to no end."""
    inner = draw(st.integers(2, 4))
    total = inner + 2
    choices, offsets, successors, probabilities, earned = [0], [0], [], [], []
    for _ in range(inner):
        for number in range(draw(st.integers(1, 3))):
            targets = draw(
                st.lists(st.integers(0, inner - 1), min_size=not number, max_size=2, unique=True)
            )
            if number:
                targets += [inner, inner + 1]
            weights = [draw(st.integers(1, 3)) for _ in targets]
            successors += targets
            probabilities += [weight / sum(weights) for weight in weights]
            offsets.append(len(successors))
            earned.append(draw(rewards))
        choices.append(len(earned))
    return gamedp.Model.from_arrays(
        choices + [len(earned)] * (total - inner),
        offsets,
        successors,
        probabilities,
        rewards=[float(number) for number in earned],
        players=[draw(st.integers(0, 1)) for _ in range(total)],
        terminals=range(inner, total),
        payoffs=[float(draw(st.integers(-3, 3))) for _ in range(inner, total)],
        num_players=2,
    )


def big_circle(states):
    """Each of two may send the other on round a circle, or leave: the further on, the better."""
    successors, probabilities, offsets = [], [], [0]
    for state in range(states):
        likely = (state + 1) / (states + 1)
        successors += [(state + 1) % states, states, states + 1]
        probabilities += [1.0, likely, 1 - likely]
        offsets += [len(successors) - 2, len(successors)]
    return gamedp.Model.from_arrays(
        [*range(0, 2 * states + 1, 2), 2 * states, 2 * states],
        offsets,
        successors,
        probabilities,
        players=[state % 2 for state in range(states)] + [0, 0],
        terminals=[states, states + 1],
    )
