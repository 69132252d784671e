"""The picture of a cross table shows its numbers."""

import pytest

import gamedp
from gamedp.games.matches import Matches
from gamedp.pictures import plot_cross_table

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    model = gamedp.compile(Matches(6), compile="never")
    policies = {"best": gamedp.solve(model), "chance": gamedp.Policy.uniform(model)}
    return gamedp.cross_table(model, policies | {"one": lambda state: 1})


@pytest.mark.parametrize("seats", ["both", "first", "second"])
def test_a_small_table_has_its_numbers(table, seats):
    ax = plot_cross_table(table, seats)
    numbers = getattr(table, seats)
    assert ax.images[0].get_array().tolist() == numbers.tolist()
    written = [text.get_text() for text in ax.texts]
    assert written == [f"{number + 0.0:.3f}" for number in numbers.ravel()]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["best", "chance", "one"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("against", "policy")
    assert "player" in ax.get_title() or seats == "both"


def test_seats_are_checked(table):
    with pytest.raises(LookupError, match="did you mean 'both'"):
        plot_cross_table(table, "bot")


def test_long_names_keep_their_ends():
    model = gamedp.compile(Matches(4), compile="never")
    chance = gamedp.Policy.uniform(model)
    names = [f"a policy with a rather long name, number {number}" for number in range(3)]
    ax = plot_cross_table(gamedp.cross_table(model, dict.fromkeys(names, chance)))
    labels = [tick.get_text() for tick in ax.get_xticklabels()]
    assert labels == [f"a policy wit…e, number {number}" for number in range(3)]
