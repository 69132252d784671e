"""Checks of the contexts' rules in plain Python, with errors in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.rules.exactness import IN_STAGES, refuse_rounded
from gamedp.rules.layout import PackedTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.rules.game import StagedRules
    from gamedp.rules.layout import Codec, Layout


@attrs.frozen(eq=False)
class PlainRules:
    """Checks one context at a time, and reports errors of the rules there.

    Attributes
    ----------
    rules : StagedRules
    stage : Model
    layout : Layout
        Of contexts.
    codec : Codec
        Of contexts.
    end_layout : Layout
        Of the stage's states.
    end_fields : (E, K) int64
        The fields of those states in which the stage may end.
    """

    rules: StagedRules
    stage: Model
    layout: Layout
    codec: Codec
    end_layout: Layout = attrs.field(init=False)
    end_fields: NDArray[np.int64] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        table = self.stage.states
        if not isinstance(table, PackedTable) or not table.layout.is_compilable:
            message = "the states of a stage must be NamedTuples of ints and tuples of ints."
            raise InvalidModelError(message)
        object.__setattr__(self, "end_layout", table.layout)
        object.__setattr__(self, "end_fields", table.fields()[self.stage.terminals])

    def context(self, code: int) -> Any:
        """Return the context with a code."""
        return self.layout.build(iter(self.codec.unpack(np.array([[code]]))[0].tolist()))

    def is_played(self, context: Any) -> bool:
        """Return whether the stage is played in a context that represents itself."""
        rules = self.rules
        return bool(
            rules.call("is_state", context)
            and rules.canonical(context) == (context, False)
            and not rules.is_terminal(context)
        )

    def check(self, context: Any) -> None:
        """Check one context in plain Python; raise InvalidModelError if something is wrong."""
        try:
            self._check(context)
        except InvalidModelError:
            raise
        except Exception as error:
            error.add_note(f"gamedp: raised by the rules in {shown(context)}")
            raise

    def _check(self, context: Any) -> None:
        rules = self.rules
        representative, swapped = self._representative(context, f"canonical({shown(context)})")
        if swapped and not rules.has_opponents:
            message = f"canonical({shown(context)}) swaps the players, which takes two."
            raise InvalidModelError(message)
        if rules.is_terminal(representative):
            payoff = rules.call("payoff", representative, 0)
            if not abs(payoff) < np.inf:
                message = (
                    f"payoff({shown(representative)}, 0) is {shown(payoff)}; it must be a finite "
                    "number."
                )
                raise InvalidModelError(message)
            refuse_rounded(payoff, f"payoff({shown(representative)}, 0)", IN_STAGES)
            return
        tier, some = rules.tier(representative), False
        for fields in self.end_fields.tolist():
            end = self.end_layout.build(iter(fields))
            if not rules.call("allows", representative, end):
                continue
            some = True
            place = f"following({shown(representative)}, {shown(end)})"
            following, _ = self._representative(rules.call("following", representative, end), place)
            if (next_tier := rules.tier(following)) > tier:
                message = (
                    f"{place} is {shown(following)} of tier {next_tier}, from tier {tier}; tier() "
                    "must never rise along play."
                )
                raise InvalidModelError(message)
            reward = rules.call("reward", representative, end, 0)
            if not abs(reward) < np.inf:
                message = (
                    f"reward({shown(representative)}, {shown(end)}, 0) is {shown(reward)}, not "
                    "finite."
                )
                raise InvalidModelError(message)
            words = f"reward({shown(representative)}, {shown(end)}, 0)"
            refuse_rounded(reward, words, IN_STAGES)
        if not some or not self._can_end(representative):
            message = (
                f"in {shown(representative)} the stage cannot be played to an end that allows() "
                "accepts."
                " Let is_terminal() say that the game is over, is_state() that there is no such "
                "context, or allow more ends."
            )
            raise InvalidModelError(message)

    def _representative(self, context: Any, place: str) -> tuple[Any, bool]:
        """Return the representative of a context, which must be in the box and represent itself."""
        representative, swapped = self.rules.canonical(context)
        fields = self.layout.flatten(representative)
        if not self.codec.contains(fields):
            message = (
                f"{place} leads to {shown(representative)}, which is outside the box of contexts, "
                f"{shown(self.rules.game.box())}."
            )
            raise InvalidModelError(message)
        if not self.rules.call("is_state", representative):
            message = f"{place} leads to {shown(representative)}, which is_state() denies."
            raise InvalidModelError(message)
        again = self.rules.canonical(representative)
        if again != (representative, False):
            message = (
                f"canonical({shown(representative)}) is {shown(again)}; it must represent itself."
            )
            raise InvalidModelError(message)
        return representative, swapped

    def _can_end(self, context: Any) -> bool:
        """Return whether the mover can always reach allowed ends."""
        stage = self.stage
        allowed = np.ones(stage.num_states, np.bool_)
        for index, fields in zip(stage.terminals.tolist(), self.end_fields.tolist(), strict=True):
            end = self.end_layout.build(iter(fields))
            allowed[index] = self.rules.call("allows", context, end)
        for state in stage.structure.order.tolist():
            first, last = stage.choice_offsets[state : state + 2].tolist()
            if first < last:
                allowed[state] = any(
                    allowed[
                        stage.successors[slice(*stage.transition_offsets[c : c + 2].tolist())]
                    ].all()
                    for c in range(first, last)
                )
        return bool(allowed[stage.initial_states[0]])
