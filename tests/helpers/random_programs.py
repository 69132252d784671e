"""Programs made at random: modules, synchronisation, shared variables, rewards, players."""

import random

PROBABILITIES = (("1",), ("0.5", "0.5"), ("1/3", "2/3"), ("0.1", "0.2", "0.7"), ("p", "1-p"))


def random_program(seed: int) -> str:
    """Return a program; some are refused, as when a variable leaves its range."""
    rng = random.Random(seed)  # noqa: S311 - no secrets here
    kind = rng.choice(["dtmc", "mdp", "mdp", "smg"])
    count = rng.randint(1, 3)
    highs = {f"x{i}": rng.randint(1, 3) for i in range(count)}
    shared = {"g": 2} if rng.random() < 0.4 else {}
    if kind == "smg":
        shared["turn"] = 1
    every = {**shared, **highs}
    lines = [kind, "const double p = 0.3;", "const int K = 1;"]
    if kind == "smg":
        modules = ", ".join(f"m{i}" for i in range(count) if i % 2 == 0)
        others = ", ".join(f"m{i}" for i in range(count) if i % 2)
        players = len(lines)
    lines += [
        f"global {name} : [0..{high}] init {rng.randint(0, high)};" for name, high in shared.items()
    ]
    lines.append(f"formula f = {_condition(rng, every)};")
    for i in range(count):
        lines.append(f"module m{i}")
        lines.append(f"  x{i} : [0..{highs[f'x{i}']}] init {rng.randint(0, highs[f'x{i}'])};")
        for _ in range(rng.randint(1, 4)):
            action = (
                rng.choice(["", "", "a", "b"])
                if count > 1 or kind == "smg"
                else rng.choice(["", "a"])
            )
            guard = _condition(rng, every)
            if rng.random() < 0.2:
                guard = f"f & {guard}"
            if kind == "smg":
                mover = {"a": 0, "b": 1}.get(action, i % 2)
                guard = f"turn={mover} & ({guard})"
            branches = []
            for probability in rng.choice(PROBABILITIES):
                updates = [f"(x{i}'={_value(rng, f'x{i}', highs, every)})"]
                if not action and shared:
                    name = rng.choice(sorted(shared))
                    updates.append(f"({name}'={_value(rng, name, shared, every)})")
                branches.append(f"{probability} : {' & '.join(updates)}")
            lines.append(f"  [{action}] {guard} -> {' + '.join(branches)};")
        lines.append("endmodule")
    body = "\n".join(lines)
    known = [action for action in ("a", "b") if f"\n  [{action}]" in body]
    if kind == "smg":
        for name, owned, action in (("two", others, "b"), ("one", modules, "a")):
            parts = ", ".join(filter(None, [owned, f"[{action}]" if action in known else ""]))
            lines.insert(players, f"player {name} {parts} endplayer" if parts else "")
    lines.append('rewards "r"')
    lines.append(f"  {_condition(rng, every)} : {rng.choice(['1', '2*x0', '0.5', 'x0/2'])};")
    for action in known:
        if rng.random() < 0.5:
            lines.append(f"  [{action}] {_condition(rng, every)} : {rng.choice(['1', 'x0+1'])};")
    lines.append("endrewards")
    lines.append(f'label "goal" = {_condition(rng, every)};')
    return "\n".join(lines)


def _condition(rng: random.Random, variables: dict[str, int], depth: int = 0) -> str:
    if depth < 2 and rng.random() < 0.4:
        left, right = (_condition(rng, variables, depth + 1) for _ in range(2))
        return rng.choice(
            [f"({left} & {right})", f"({left} | {right})", f"!({left})", f"({left} => {right})"]
        )
    if rng.random() < 0.1:
        return "true"
    name = rng.choice(sorted(variables))
    other = rng.choice(sorted(variables))
    return rng.choice([
        f"{name}={rng.randint(0, variables[name])}",
        f"{name}!={rng.randint(0, variables[name])}",
        f"{name}<{rng.randint(1, variables[name] + 1)}",
        f"{name}>={other}",
        f"{name}+{other}<=K+1",
        f"{name}/2>0.5",
        f"mod({name}, 2)=0",
    ])  # fmt: skip


def _value(rng: random.Random, name: str, highs: dict[str, int], every: dict[str, int]) -> str:
    high = highs[name]
    other = rng.choice(sorted(every))
    if rng.random() < 0.03:
        return f"{name}+1"
    return rng.choice([
        str(rng.randint(0, high)),
        name,
        f"min({high}, {name}+1)",
        f"max(0, {name}-1)",
        f"min({high}, {other})",
        f"{name}={high} ? 0 : {name}+1",
        f"floor({name}/2)",
    ])  # fmt: skip
