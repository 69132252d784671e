from .adviser import Adviser as Adviser
from .analysis import (
    Analysis as Analysis,
    AnalysisOfTwo as AnalysisOfTwo,
    Decision as Decision,
    Fortune as Fortune,
    analyse as analyse,
    analyse_two as analyse_two,
    played_perfectly as played_perfectly,
)
from .boxes import (
    WORDS as WORDS,
    box_names as box_names,
    box_number as box_number,
    kept as kept,
    points as points,
    points_as_joker as points_as_joker,
    shown as shown,
    throw as throw,
)
from .card import (
    Card as Card,
    Situation as Situation,
)
from .dialogue import (
    Dialogue as Dialogue,
    play_perfectly as play_perfectly,
    replay as replay,
)
from .duel import Duel as Duel
from .gains import (
    Gain as Gain,
    gain as gain,
)
from .outlook import (
    Opponent as Opponent,
    Outlook as Outlook,
    outlook_against as outlook_against,
    outlook_for_total as outlook_for_total,
)
from .prospects import (
    Expectation as Expectation,
    Option as Option,
    Prospect as Prospect,
)
from .record import (
    Record as Record,
    RecordOfTwo as RecordOfTwo,
    Round as Round,
    SavedGame as SavedGame,
    Step as Step,
    load_record as load_record,
)
from .reports import (
    advice as advice,
    answer as answer,
    answer_for_goal as answer_for_goal,
    chance_in_words as chance_in_words,
    report as report,
)
from .rules import (
    Kniffel as Kniffel,
    Sheet as Sheet,
)
from .targets import Targets as Targets
from .turn import (
    DONE as DONE,
    ENTERING as ENTERING,
    KEEPING as KEEPING,
    ROLLING as ROLLING,
    Chance as Chance,
    KniffelTurn as KniffelTurn,
    Turn as Turn,
    chance_of as chance_of,
)
