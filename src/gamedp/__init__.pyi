from . import (
    adapters as adapters,
    certificates as certificates,
    comparison as comparison,
    errors as errors,
    graph as graph,
    pictures as pictures,
    play as play,
    policies as policies,
    results as results,
    rules as rules,
    searchers as searchers,
    simulation as simulation,
    solvers as solvers,
    stages as stages,
    sums as sums,
    tables as tables,
    testing as testing,
    views as views,
)
from .adapters import (
    read_model as read_model,
    write_model as write_model,
)
from .certificates import (
    Certificate as Certificate,
    Verified as Verified,
)
from .comparison.compare import compare as compare
from .errors import (
    GamedpError as GamedpError,
    InvalidModelError as InvalidModelError,
    NotSolvedError as NotSolvedError,
    UnsupportedProblemError as UnsupportedProblemError,
)
from .model.model import Model as Model
from .model.objectives import (
    AverageReward as AverageReward,
    Discounted as Discounted,
    FiniteHorizon as FiniteHorizon,
    Reachability as Reachability,
    TotalReward as TotalReward,
)
from .model.problem import Problem as Problem
from .policies.cross_table import cross_table as cross_table
from .policies.evaluation import evaluate as evaluate
from .policies.policy import Policy as Policy
from .policies.response import (
    best_response as best_response,
    exploitability as exploitability,
)
from .questions.answers import Answer as Answer
from .results.search_result import SearchResult as SearchResult
from .results.solution import Solution as Solution
from .results.status import (
    ActionValue as ActionValue,
    Guarantee as Guarantee,
    Statistics as Statistics,
    Status as Status,
)
from .rules.game import (
    Game as Game,
    StagedGame as StagedGame,
    helper as helper,
    with_item as with_item,
)
from .runtime.limit import Progress as Progress
from .simulation.simulate import simulate as simulate
from .stages.model import StagedModel as StagedModel
from .stages.solution import StagedSolution as StagedSolution
from .verbs.asking import ask as ask
from .verbs.certifying import (
    certify as certify,
    verify as verify,
)
from .verbs.compiling import compile as compile
from .verbs.saving import (
    load as load,
    save as save,
    write_policy as write_policy,
)
from .verbs.searching import search as search
from .verbs.solving import (
    explain as explain,
    solve as solve,
)
