"""Pairs that several sets have in common, each compared once."""

from hypothesis import given, strategies as st

from gamedp.stages.unrolled_code import share


def members(item, pairs):
    """Return what an item stands for."""
    if item not in pairs:
        return {item}
    one, other = pairs[item]
    return members(one, pairs) | members(other, pairs)


def comparisons(sets, pairs=()):
    return sum(max(len(items) - 1, 0) for items in sets) + len(pairs)


@given(st.lists(st.sets(st.integers(0, 9)), max_size=12))
def test_sets_keep_their_members_and_need_no_more_comparisons(sets):
    shared = [set(items) for items in sets]
    pairs = share(shared, 10)
    for before, after in zip(sets, shared, strict=True):
        assert set().union(*(members(item, pairs) for item in after)) == before
    assert comparisons(shared, pairs) <= comparisons(sets)
    assert all(max(pair) < item for item, pair in pairs.items())
    left = [set(items) for items in shared]
    assert share(left, 10 + len(pairs)) == {}


def test_what_is_common_to_all_is_compared_once():
    sets = [{0, 1, 2, 3, 10 + number} for number in range(20)]
    pairs = share(sets, 100)
    assert comparisons(sets, pairs) == 3 + 20
