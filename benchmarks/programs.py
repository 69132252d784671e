"""Randomised protocols as programs in PRISM's language, of any number of processes.

Each was written for these benchmarks from the protocol's published description, which its function
names; the case studies that other tools bring along model some of the same protocols in other ways.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["PROGRAMS"]


def consensus(processes: int = 4, barrier: int = 2) -> str:
    """Return the shared coin of J. Aspnes and M. Herlihy (Journal of Algorithms 11, 1990).

    Each process flips a coin, moves a shared counter by it, and looks whether the counter is beyond
    a barrier, which decides; the scheduler lets any process go next.
    """
    end = (barrier + 1) * processes
    low, high = -barrier * processes, barrier * processes
    lines = ["mdp", f"global walk : [{-end}..{end}] init 0;"]
    for i in range(processes):
        lines += [
            f"module process{i}",
            f"  at{i} : [0..3] init 0; // flip, move, look, decided",
            f"  coin{i} : [0..1] init 0;",
            f"  [] at{i}=0 -> 1/2 : (at{i}'=1) & (coin{i}'=0) + 1/2 : (at{i}'=1) & (coin{i}'=1);",
            f"  [] at{i}=1 & coin{i}=0 & walk>{-end} -> (walk'=walk-1) & (at{i}'=2);",
            f"  [] at{i}=1 & coin{i}=1 & walk<{end} -> (walk'=walk+1) & (at{i}'=2) & (coin{i}'=0);",
            f"  [] at{i}=2 & walk<={low} -> (at{i}'=3) & (coin{i}'=0);",
            f"  [] at{i}=2 & walk>={high} -> (at{i}'=3) & (coin{i}'=1);",
            f"  [] at{i}=2 & walk>{low} & walk<{high} -> (at{i}'=0);",
            f"  [decided] at{i}=3 -> true;",
            "endmodule",
        ]
    everyone = " & ".join(f"at{i}=3" for i in range(processes))
    heads = " & ".join(f"coin{i}=1" for i in range(processes))
    tails = " & ".join(f"coin{i}=0" for i in range(processes))
    lines += [
        f'label "decided" = {everyone};',
        f'label "heads" = {everyone} & {heads};',
        f'label "split" = {everyone} & !({heads}) & !({tails});',
        'rewards "steps" true : 1; endrewards',
    ]
    return "\n".join(lines)


def herman(processes: int = 11) -> str:
    """Return self-stabilisation by T. Herman (Information Processing Letters 35, 1990).

    A ring of an odd number of processes, each with a bit; who has the bit of its left neighbour has
    a token, and draws a new bit; who has not, takes that bit over. All hold a token at first.
    """
    lines = ["dtmc"]
    for i in range(processes):
        left = (i - 1) % processes
        lines += [
            f"module process{i}",
            f"  x{i} : [0..1] init 0;",
            f"  [step] x{i}=x{left} -> 1/2 : (x{i}'=0) + 1/2 : (x{i}'=1);",
            f"  [step] x{i}!=x{left} -> (x{i}'=x{left});",
            "endmodule",
        ]
    tokens = " + ".join(f"(x{i}=x{(i - 1) % processes}?1:0)" for i in range(processes))
    lines += [f'label "stable" = {tokens} = 1;', 'rewards "steps" true : 1; endrewards']
    return "\n".join(lines)


def contract(pairs: int = 5, bits: int = 6) -> str:
    """Return contract signing by S. Even, O. Goldreich and A. Lempel (CACM 28, 1985).

    Each of two parties has pairs of secrets; to know both of a pair is to have the other's
    signature. One of each pair is passed by oblivious transfer, so that the sender cannot tell
    which; then the secrets are revealed bit by bit: of each half of them first by the one party,
    then by the other. The one is left with nothing if its first half tells the other enough.
    """
    again = "(next'=0) & (turn'=0) & (round'=round+1)"
    lines = [
        "dtmc",
        "module clock",
        "  drawn : [0..1] init 0;",
        f"  round : [1..{bits + 1}] init 1;",
        "  turn : [0..3] init 0; // twice the half, plus the party",
        f"  next : [0..{pairs - 1}] init 0;",
        "  [draw] drawn=0 -> (drawn'=1);",
        f"  [] drawn=1 & round<={bits} & next<{pairs - 1} -> (next'=next+1);",
        f"  [] drawn=1 & round<={bits} & next={pairs - 1} & turn<3 -> (next'=0) & (turn'=turn+1);",
        f"  [] drawn=1 & round<={bits} & next={pairs - 1} & turn=3 -> {again};",
        f"  [] round={bits + 1} -> true;",
        "endmodule",
    ]
    knows = {}
    # What the first reveals, the second gets to know, and the other way round.
    for name, sender in (("b", 0), ("a", 1)):
        pieces = []
        for i in range(pairs):
            lines += [
                f"module {name}{i}",
                f"  {name}{i} : [0..1] init 0; // which of the two secrets came by the transfer",
                f"  [draw] true -> 1/2 : ({name}{i}'=0) + 1/2 : ({name}{i}'=1);",
                "endmodule",
            ]
            sent = [
                f"(round>{bits} | round={bits} & (turn>{turn} | turn={turn} & next>{i}))"
                for turn in (sender, 2 + sender)
            ]
            pieces.append(f"(drawn=1 & ({name}{i}=0 ? {sent[1]} : {sent[0]}))")
        knows[name] = " | ".join(pieces)
    lines += [
        f'label "unfair" = ({knows["b"]}) & !({knows["a"]});',
        f'label "over" = round={bits + 1};',
        f'rewards "exposed" ({knows["b"]}) & !({knows["a"]}) : 1; endrewards',
    ]
    return "\n".join(lines)


def zeroconf(probes: int = 4, apart: int = 4, latest: int = 12, hosts: int = 1000) -> str:
    """Return address configuration as H. Bohnenkamp and others model its cost (DSN 2003).

    A host draws one of 65,024 addresses, of which some are taken, and asks for it a few times, the
    same time apart. Questions and answers get lost; an answer comes after a random time, and may be
    held up by one more unit, as long as that does not happen too often. An answer makes the host
    draw again. To use a taken address is an error.
    """
    loss = "19/100"  # the question or the answer: 1 - 0.9**2
    spread = " + ".join(f"81/{100 * latest} : (DUE'={ticks})" for ticks in range(1, latest + 1))
    lines = [
        "mdp",
        f"const double taken = {hosts}/65024;",
        "module host",
        "  at : [0..4] init 0; // draw, ask, wait, use a free address, use a taken one",
        "  hit : bool init false;",
        f"  asked : [0..{probes}] init 0;",
        f"  clock : [0..{apart}] init 0;",
        "  [draw] at=0 -> taken : (at'=1) & (hit'=true) + 1-taken : (at'=1) & (hit'=false);",
    ]
    for i in range(probes):
        lines += [
            f"  [ask{i}] at=1 & asked={i} -> (at'=2) & (asked'={i + 1}) & (clock'=0);",
            f"  [answer{i}] at=2 -> (at'=0) & (asked'=0) & (clock'=0) & (hit'=false);",
        ]
    lines += [
        f"  [tick] at=2 & clock<{apart} -> (clock'=clock+1);",
        f"  [] at=2 & clock={apart} & asked<{probes} -> (at'=1);",
        f"  [] at=2 & clock={apart} & asked={probes} & hit -> (at'=4);",
        f"  [] at=2 & clock={apart} & asked={probes} & !hit -> (at'=3);",
        "  [] at>2 -> true;",
        "endmodule",
        "module network",
        "  held : [0..3] init 0;",
        "  [hold] held<3 -> (held'=held+1);",
        "  [draw] true -> (held'=0);",
        "endmodule",
    ]
    for i in range(probes):
        due = f"due{i}"
        others = "".join(f" [answer{j}] true -> ({due}'=0);" for j in range(probes) if j != i)
        lines += [
            f"module answer{i}",
            f"  {due} : [0..{latest}] init 0; // ticks till an answer comes; 0 for none",
            f"  [ask{i}] hit -> {loss} : ({due}'=0) + {spread.replace('DUE', due)};",
            f"  [ask{i}] !hit -> ({due}'=0);",
            f"  [tick] {due}=0 -> true;",
            f"  [tick] {due}>1 -> ({due}'={due}-1);",
            f"  [answer{i}] {due}=1 -> ({due}'=0);",
            f" {others}",
            "endmodule",
        ]
    # Who holds an answer up holds up all that are due.
    for i in range(probes):
        place = lines.index(f"module answer{i}")
        lines.insert(place + 2, f"  [hold] due{i}=1 -> (due{i}'=2);")
        lines.insert(place + 3, f"  [hold] due{i}!=1 -> true;")
    some = " | ".join(f"due{i}=1" for i in range(probes))
    place = lines.index("  [hold] held<3 -> (held'=held+1);")
    lines[place] = f"  [hold] held<3 & ({some}) -> (held'=held+1);"
    lines += [
        'label "settled" = at>2;',
        'label "error" = at=4;',
        'rewards "time" [tick] true : 1; [hold] true : 0; endrewards',
    ]
    return "\n".join(lines)


def ethernet(stations: int = 3, backoff: int = 3, length: int = 6, window: int = 8) -> str:
    """Return truncated binary exponential backoff on a line (R. Metcalfe, D. Boggs, CACM 19, 1976).

    Time goes in slots. Who waits no longer sends, if the line is free; if several do in one slot,
    they collide, and each waits for a random number of slots, drawn from twice as many with each
    collision, up to a limit. When, within a window, the stations get something to send is the
    scheduler's to say.
    """
    sending = " + ".join(f"(at{i}=2?1:0)" for i in range(stations))
    lines = [
        "mdp",
        f"formula senders = {sending};",
        "module line",
        "  phase : [0..1] init 0; // who begins; what becomes of it",
        f"  busy : [0..{length}] init 0;",
        f"  age : [0..{window}] init 0;",
        f"  [begin] phase=0 -> (phase'=1) & (age'=min(age+1, {window}));",
        f"  [sent] phase=1 & senders=1 & busy<{length} -> (busy'=busy+1);",
        f"  [over] phase=1 & senders=1 & busy={length} -> (busy'=0) & (phase'=0);",
        "  [collide] phase=1 & senders>1 -> (phase'=0);",
        "  [idle] phase=1 & senders=0 -> (phase'=0);",
        "endmodule",
    ]
    for i in range(stations):
        lines += [
            f"module station{i}",
            f"  at{i} : [0..3] init 0; // nothing to send yet, waiting, sending, done",
            f"  hits{i} : [0..{backoff}] init 0;",
            f"  wait{i} : [0..{2**backoff - 1}] init 0;",
            f"  [begin] at{i}=0 & age<{window} -> true;",
            f"  [begin] at{i}=0 -> (at{i}'=2);",
            f"  [begin] at{i}=1 & wait{i}>0 -> (wait{i}'=wait{i}-1);",
            f"  [begin] at{i}=1 & wait{i}=0 -> (at{i}'=2);",
            f"  [begin] at{i}=3 -> true;",
            "  [sent] true -> true;",
            "  [idle] true -> true;",
            f"  [over] at{i}=2 -> (at{i}'=3) & (hits{i}'=0);",
            f"  [over] at{i}!=2 -> true;",
            f"  [collide] at{i}!=2 -> true;",
        ]
        for hits in range(backoff + 1):
            size = 2 ** min(hits + 1, backoff)
            more = min(hits + 1, backoff)
            draws = " + ".join(
                f"1/{size} : (at{i}'=1) & (hits{i}'={more}) & (wait{i}'={slots})"
                for slots in range(size)
            )
            lines.append(f"  [collide] at{i}=2 & hits{i}={hits} -> {draws};")
        lines.append("endmodule")
    everyone = " & ".join(f"at{i}=3" for i in range(stations))
    worst = " | ".join(f"(hits{i}={backoff} & at{i}=2 & senders>1)" for i in range(stations))
    lines += [
        f'label "delivered" = {everyone};',
        f'label "worst" = {worst};',
        'rewards "time" [sent] true : 1; [collide] true : 1; [idle] true : 1; endrewards',
    ]
    return "\n".join(lines)


PROGRAMS: dict[str, Callable[..., str]] = {
    program.__name__: program for program in (consensus, herman, contract, zeroconf, ethernet)
}
"""By name; each takes the sizes and returns the program."""
