# ruff: noqa: E501 - each program is one line
"""Programs for tests: each feature of the languages at least once alone.

Counts of states, choices and transitions are Storm's (stormpy 2.0.0, sparse engine, all labels).
"""

import json

DIE = """
dtmc
module die
  s : [0..7] init 0;
  d : [0..6] init 0;
  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=1 -> 0.5 : (s'=3) + 0.5 : (s'=4);
  [] s=2 -> 0.5 : (s'=5) + 0.5 : (s'=6);
  [] s=3 -> 0.5 : (s'=1) + 0.5 : (s'=7) & (d'=1);
  [] s=4 -> 0.5 : (s'=7) & (d'=2) + 0.5 : (s'=7) & (d'=3);
  [] s=5 -> 0.5 : (s'=7) & (d'=4) + 0.5 : (s'=7) & (d'=5);
  [] s=6 -> 0.5 : (s'=2) + 0.5 : (s'=7) & (d'=6);
  [] s=7 -> (s'=7);
endmodule
rewards "flips" [] s<7 : 1; endrewards
label "six" = s=7 & d=6;
"""

PROGRAMS = {
    "die": (DIE, (13, 13, 20)),
    "default kind": ("module m x : [0..2]; [] x<2 -> (x'=x+1); endmodule", (3, 3, 3)),
    "old word for mdp": ("nondeterministic module m x : [0..1]; [] true -> (x'=1-x); endmodule", (2, 2, 2)),
    "old word for dtmc": ("probabilistic module m x : [0..1]; [] true -> 0.5:(x'=0)+0.5:(x'=1); endmodule", (2, 2, 4)),
    "true as an update": ("mdp module m x : [0..1]; [] x=0 -> 0.5 : true + 0.5 : (x'=1); [] x=1 -> true; endmodule", (2, 2, 3)),
    "bool variable": ("mdp module m b : bool init true; c : bool; [] b -> (b'=!b) & (c'=b); [] !b & c -> (c'=false); endmodule", (3, 3, 3)),
    "negative range": ("mdp module m x : [-3..3] init -3; [] x<2 -> (x'=x+2); [] x>-3 -> (x'=x-1); endmodule", (7, 11, 11)),
    "integer without range": ("mdp module m x : int init 5; [] x>0 -> (x'=x-1); endmodule", (6, 6, 6)),
    "constants": ("mdp const int M = 3; const int N = 2*M; const bool b = N>5; const double p = 1/N; module m x : [0..N]; [] x<N & b -> p : (x'=x+1) + 1-p : true; endmodule", (7, 7, 13)),
    "constant without type": ("mdp const N = 4; module m x : [0..N]; [] x<N -> (x'=x+1); endmodule", (5, 5, 5)),
    "formula": ("mdp formula next = x+step; formula step = 2; module m x : [0..9]; [] next<=9 -> (x'=next); endmodule", (5, 5, 5)),
    "formula in a renamed module": ("mdp formula low = x<2; module a x : [0..3]; [t] low -> (x'=x+1); endmodule module b = a [x=y, t=u] endmodule", (9, 13, 13)),
    "global variable": ("mdp global g : [0..3] init 1; module a x : [0..1]; [] g<3 -> (g'=g+1) & (x'=1-x); endmodule module b [] g>0 -> (g'=g-1); endmodule", (8, 12, 12)),
    "synchronisation": ("mdp module a x : [0..2]; [t] x<2 -> 0.5 : (x'=x+1) + 0.5 : (x'=0); endmodule module b y : [0..1]; [t] true -> (y'=1-y); [] x=2 -> (y'=0); endmodule", (6, 6, 10)),
    "several commands of one action": ("mdp module a x : [0..2]; [t] x<2 -> (x'=x+1); [t] x<1 -> (x'=2); endmodule module b y : [0..2]; [t] y<2 -> (y'=y+1); [t] y>0 -> (y'=0); endmodule", (5, 7, 7)),
    "products of three": ("mdp module a x : [0..1]; [t] true -> 1/3 : (x'=0) + 2/3 : (x'=1); endmodule module b y : [0..1]; [t] true -> 1/3 : (y'=0) + 2/3 : (y'=1); endmodule module c z : [0..1]; [t] true -> 0.1 : (z'=0) + 0.9 : (z'=1); endmodule", (8, 8, 64)),
    "blocked action": ("mdp module a x : [0..2]; [t] x<2 -> (x'=x+1); endmodule module b y : [0..1]; [t] false -> true; [] y=0 -> (y'=1); endmodule", (2, 2, 2)),
    "chain of several commands": ("dtmc module a x : [0..2]; [] x<2 -> (x'=x+1); [] x=0 -> 0.5 : (x'=2) + 0.5 : (x'=1); [t] x=0 -> (x'=0); endmodule", (3, 3, 5)),
    "equal targets": ("mdp module m x : [0..2]; [] x=0 -> 0.25 : (x'=1) + 0.5 : (x'=2) + 0.25 : (x'=1); endmodule", (3, 3, 4)),
    "probability zero": ("mdp const double p = 0; module m x : [0..2]; [] x=0 -> p : (x'=1) + 1-p : (x'=2); endmodule", (2, 2, 2)),
    "probabilities of the state": ("mdp const int N = 4; module m x : [0..N] init 2; [] x>0 & x<N -> x/N : (x'=x+1) + 1-x/N : (x'=x-1); endmodule", (5, 5, 8)),
    "deadlock": ("mdp module m x : [0..2]; [] x=0 -> 0.5 : (x'=1) + 0.5 : (x'=2); [] x=1 -> (x'=0); endmodule", (3, 3, 4)),
    "many starts": ("mdp module m x : [0..3]; y : [0..2]; [] x>y -> (x'=x-1); endmodule init x+y>2 & y<2 endinit", (7, 7, 7)),
    "starts with fixed variables": ("mdp module m x : [0..3]; b : bool; [] x>0 -> (x'=x-1) & (b'=!b); endmodule init x=2 endinit", (6, 6, 6)),
    "rewards": (DIE + 'rewards "value" s=7 : d*d/2; s<1 : 0.1; s=0 : 1/3; endrewards', (13, 13, 20)),
    "conditional": ("mdp module m x : [0..5]; [] true -> (x' = x=0 ? 3 : x=3 ? 5 : 0); endmodule", (3, 3, 3)),
    "functions": ("mdp module m x : [0..20] init 1; [] true -> (x'=min(20, max(x*2, 3), 19)); [] true -> (x'=mod(x*7, 5)); [] true -> (x'=floor(x/2)); [] true -> (x'=ceil(x/3)); [] true -> (x'=min(pow(x,2), 20)); endmodule", (17, 85, 85)),
    "implication and equivalence": ("mdp module m x : [0..3]; b : bool; [] (x>1 => b) & (b = (x=0 | x=2)) -> (x'=x+1) & (b'=true); [] x<2 & b!=(x=0) -> (b'=!b); endmodule", (6, 6, 6)),
    "renaming twice": ("mdp module p1 x1 : [0..1]; [] x1=x3 -> 0.5 : (x1'=0) + 0.5 : (x1'=1); endmodule module p2 = p1 [x1=x2, x3=x1] endmodule module p3 = p1 [x1=x3, x3=x2] endmodule", (7, 9, 18)),
    "renamed function": ("mdp module a x : [0..3]; [] x<3 -> (x'=min(x+1,2)); endmodule module b = a [x=y, min=max] endmodule", (9, 15, 15)),
    "wide states": ("mdp " + " ".join(f"module m{i} x{i} : [0..255]; [t] x{i}<3 -> (x{i}'=x{i}+1); endmodule" for i in range(20)), (4, 4, 4)),
    "label and reward of an action": ('mdp module m x : [0..2]; [go] x<2 -> (x\'=x+1); [] x=2 -> true; endmodule label "end" = x=2; rewards "go" [go] true : x+1; true : 0.5; endrewards', (3, 3, 3)),
    "old form of functions": ("mdp module m x : [0..3]; [] x<3 -> (x'=func(min, x+1, 3)); endmodule", (4, 4, 4)),
    "equivalence": ("mdp module m x : [0..3]; b : bool; [] x<3 & (b <=> x=0 | x=2) -> (x'=x+1) & (b'=!b); [] !(b <=> x<2) -> (b'=!b); endmodule", (7, 9, 9)),
    "comments": ("// one\nmdp // two\nmodule m x : [0..1]; // three\n[] x=0 -> (x'=1); endmodule // end", (2, 2, 2)),
}  # fmt: skip

GAMES = {
    "two modules": ("smg player a m1, [go] endplayer player b m2 endplayer module m1 x : [0..2]; t : [0..1]; [go] x<2 & t=0 -> (x'=x+1) & (t'=1); [back] t=1 -> (t'=0); endmodule module m2 y : [0..1]; [back] true -> 0.5 : (y'=0) + 0.5 : (y'=1); endmodule".replace("player b m2", "player b m2, [back]"), (8, 8, 11)),
    "unlabelled commands": ("smg player a m1 endplayer player b m2 endplayer global t : bool; module m1 x : [0..2]; [] !t & x<2 -> (x'=x+1) & (t'=true); [] !t -> (t'=true); endmodule module m2 y : [0..2]; [] t & y<2 -> (y'=y+1) & (t'=false); [] t -> (t'=false); endmodule", (18, 30, 30)),
    "players of actions": ("smg player one [a], [b] endplayer player two [c] endplayer module m x : [0..3]; [a] x=0 -> 0.5 : (x'=1) + 0.5 : (x'=2); [b] x=0 -> (x'=3); [c] x=1 -> (x'=0); [c] x=1 -> (x'=3); endmodule", (4, 6, 7)),
    "one player": ("smg player one [a] endplayer module m x : [0..3]; [a] x<3 -> (x'=x+1); [a] x<2 -> (x'=x+2); endmodule", (4, 6, 6)),
    "three players": ("smg player p1 [a] endplayer player p2 [b] endplayer player p3 [c] endplayer module m x : [0..5]; [a] x=0 -> (x'=1); [a] x=0 -> (x'=2); [b] x=1 -> 0.5 : (x'=3) + 0.5 : (x'=4); [c] x=2 -> (x'=4); [c] x=2 -> (x'=5); endmodule", (6, 8, 9)),
    "synchronised moves": ("smg player p1 [a] endplayer player p2 [b] endplayer module m x : [0..1]; [a] x=0 -> (x'=1); [b] x=1 -> (x'=0); endmodule module n y : [0..3]; [a] true -> 0.5 : (y'=0) + 0.5 : (y'=3); [b] y>0 -> (y'=y-1); endmodule", (4, 4, 6)),
    "renamed player modules": ("smg player p1 m1 endplayer player p2 m2 endplayer global t : [1..2] init 1; module m1 x1 : [0..2]; [] t=1 & x1<2 -> (x1'=x1+1) & (t'=2); [] t=1 & x1=2 -> (t'=2); endmodule module m2 = m1 [x1=x2, t=t] endmodule".replace("[x1=x2, t=t]", "[x1=x2]").replace("module m2 = m1 [x1=x2] endmodule", "module m2 x2 : [0..2]; [] t=2 & x2<2 -> 0.5 : (x2'=x2+1) & (t'=1) + 0.5 : (t'=1); [] t=2 & x2=2 -> (t'=1); endmodule"), (10, 10, 13)),
    "rewards in a game": ('smg player p1 [a] endplayer player p2 [b] endplayer module m x : [0..4]; [a] x=0 -> (x\'=1); [a] x=0 -> (x\'=2); [b] x=1 -> (x\'=3); [b] x=2 -> 1/3 : (x\'=3) + 2/3 : (x\'=4); endmodule rewards "r" [b] true : x; x=0 : 1/3; endrewards', (5, 6, 7)),
}  # fmt: skip


def is_(name, value):
    return {"op": "=", "left": name, "right": value}


def plus(left, right):
    return {"op": "+", "left": left, "right": right}


def bounded(low, high):
    return {"kind": "bounded", "base": "int", "lower-bound": low, "upper-bound": high}


def edge(location, guard, *destinations, action=None, **more):
    """Return an edge to destinations: a location, assignments, and a probability or None."""
    listed = []
    for there, assigned, probability in destinations:
        found = {
            "location": there,
            "assignments": [{"ref": r, "value": v} for r, v in assigned.items()],
        }
        if probability is not None:
            found["probability"] = {"exp": probability}
        listed.append(found)
    found = {"location": location, "destinations": listed, **more}
    if guard is not None:
        found["guard"] = {"exp": guard}
    if action is not None:
        found["action"] = action
    return found


def automaton(name, locations, edges, **more):
    listed = [each if isinstance(each, dict) else {"name": each} for each in locations]
    return {
        "name": name,
        "locations": listed,
        "initial-locations": [listed[0]["name"]],
        "edges": edges,
        **more,
    }


def jani(automata, *, kind="mdp", variables=(), syncs=None, elements=None, **more):
    system = {"elements": elements or [{"automaton": each["name"]} for each in automata]}
    if syncs is not None:
        system["syncs"] = syncs
    return json.dumps({
        "jani-version": 1, "name": "test", "type": kind,
        "actions": [{"name": name} for name in sorted({e["action"] for a in automata for e in a["edges"] if "action" in e} | {s["result"] for s in syncs or () if "result" in s})],
        "variables": list(variables), "properties": [], "automata": automata, "system": system, **more,
    })  # fmt: skip


X = {"name": "x", "type": bounded(0, 3), "initial-value": 0}
COST = {"name": "cost", "type": "real", "transient": True, "initial-value": 0}
GOAL = {"name": "goal", "type": "bool", "transient": True, "initial-value": False}
STEP = edge(
    "l", {"op": "<", "left": "x", "right": 3}, ("l", {"x": plus("x", 1)}, 0.5), ("l", {"x": 0}, 0.5)
)

JANI = {
    "locations": (jani([automaton("a", ["one", "two", "three"], [edge("one", None, ("two", {}, 0.25), ("three", {}, 0.75)), edge("two", None, ("one", {}, None))])]), (3, 3, 4)),
    "variables": (jani([automaton("a", ["l"], [STEP])], variables=[X]), (4, 4, 7)),
    "chain": (jani([automaton("a", ["l"], [STEP])], variables=[X], kind="dtmc"), (4, 4, 7)),
    "local variables": (jani([automaton("a", ["l"], [STEP], variables=[X]), automaton("b", ["l"], [STEP], variables=[X])], syncs=[]), (16, 25, 49)),
    "synchronisation with a null place": (jani([automaton("a", ["l", "m"], [edge("l", None, ("m", {}, None), action="go")]), automaton("b", ["l", "m"], [edge("l", None, ("m", {}, None), action="go")]), automaton("c", ["l", "m"], [edge("l", None, ("m", {}, None), action="go")])], syncs=[{"synchronise": ["go", "go", None], "result": "go"}, {"synchronise": [None, None, "go"], "result": "alone"}]), (4, 5, 5)),
    "synchronisation without result": (jani([automaton("a", ["l", "m"], [edge("l", None, ("m", {}, None), action="s")]), automaton("b", ["l", "m"], [edge("l", None, ("m", {}, 0.5), ("l", {}, 0.5), action="r")])], syncs=[{"synchronise": ["s", "r"]}]), (3, 3, 4)),
    "functions": (jani([automaton("a", ["l"], [edge("l", None, ("l", {"x": {"op": "call", "function": "next", "args": ["x"]}}, None))])], variables=[X], features=["functions"], functions=[{"name": "next", "type": "int", "parameters": [{"name": "n", "type": "int"}], "body": {"op": "%", "left": plus("n", 2), "right": 4}}]), (2, 2, 2)),
    "transient values": (jani([automaton("a", [{"name": "l", "transient-values": [{"ref": "cost", "value": 2}]}, {"name": "m", "transient-values": [{"ref": "goal", "value": True}]}], [edge("l", None, ("m", {"cost": 3}, 0.5), ("l", {}, 0.5)), edge("m", None, ("m", {}, None))])], variables=[COST, GOAL]), (2, 2, 3)),
    "derived operators": (jani([automaton("a", ["l"], [edge("l", {"op": "⇒", "left": {"op": ">", "left": "x", "right": 1}, "right": {"op": "≥", "left": {"op": "abs", "exp": {"op": "-", "left": 1, "right": "x"}}, "right": 2}}, ("l", {"x": {"op": "min", "left": 3, "right": plus("x", 1)}}, None)), edge("l", is_("x", 2), ("l", {"x": {"op": "trc", "exp": {"op": "/", "left": "x", "right": 2}}}, None))])], variables=[X], features=["derived-operators"]), (3, 3, 3)),
    "several initial values": (jani([automaton("a", ["l"], [STEP])], variables=[X | {"initial-value": 1}], **{"restrict-initial": {"exp": True}}), (4, 4, 7)),
    "restricted initial values": (jani([automaton("a", ["l"], [edge("l", {"op": ">", "left": "x", "right": 2}, ("l", {"x": 0}, None))])], variables=[{"name": "x", "type": bounded(0, 3)}], **{"restrict-initial": {"exp": {"op": "≥", "left": "x", "right": 2}}}), (3, 3, 3)),
    "constants and ite": (jani([automaton("a", ["l"], [edge("l", None, ("l", {"x": {"op": "ite", "if": is_("x", "N"), "then": 0, "else": plus("x", 1)}}, "p"), ("l", {}, {"op": "-", "left": 1, "right": "p"}))])], variables=[X], constants=[{"name": "N", "type": "int", "value": 2}, {"name": "p", "type": "real", "value": {"op": "/", "left": 1, "right": 3}}]), (3, 3, 6)),
    "assignments of an edge": (jani([automaton("a", ["l"], [edge("l", {"op": "<", "left": "x", "right": 2}, ("l", {"x": plus("x", 1)}, 0.5), ("l", {"x": plus("x", 1), "y": 1}, 0.5), assignments=[{"ref": "cost", "value": plus("x", 1)}])])], variables=[X, COST, {"name": "y", "type": "int", "initial-value": 0}]), (5, 5, 7)),
}  # fmt: skip

NOT_OF_STORM = {
    "default kind",
    "old word for mdp",
    "old word for dtmc",
    "old form of functions",
    "equivalence",
    "renamed function",
}
"""Programs of PRISM's language that Storm does not read; their counts are by hand."""
