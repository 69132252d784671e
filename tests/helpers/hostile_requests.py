"""Requests that no page sends: forty kinds, each with the status that it must get."""

import json

POSITION = "/api/games/matches/position"
HISTORY = "/api/games/matches/history"


def posted(body, status, path=POSITION, **options):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/json", **options.pop("headers", {})}
    return {"method": "POST", "path": path, "content": content, "headers": headers}, status


def line(**fields):
    return {"line": fields}


def then(**fields):
    return {"line": {}, "then": fields}


def got(path, status, method="GET", **headers):
    return {"method": method, "path": path, "headers": headers}, status


HOSTILE = {
    "nothing": posted(b"", 400),
    "no json": posted(b"{line: 1}", 400),
    "no object": posted([], 400),
    "a number": posted(7, 400),
    "null": posted(None, 400),
    "no line": posted({}, 400),
    "a line of lines": posted({"line": []}, 400),
    "a field too many": posted({"line": {}, "state": 1}, 400),
    "a field too many inside": posted(line(class_="os:system"), 400),
    "a class": posted({"line": {"start": {"class": "subprocess:Popen", "fields": {}}}}, 400),
    "nan": posted(b'{"line":{"actions":[NaN],"outcomes":[0]}}', 400),
    "infinity": posted(b'{"line":{},"look":{"seconds":Infinity}}', 400),
    "a huge number": posted(b'{"line":{"actions":[1' + b"0" * 300 + b'],"outcomes":[0]}}', 400),
    "a number of 5000 digits": posted(b'{"line":{"actions":[' + b"9" * 5000 + b"]}}", 400),
    "too large a real number": posted(b'{"line":{},"look":{"seconds":1e999}}', 400),
    "3000 brackets": posted(b"[" * 3000 + b"]" * 3000, 400),
    "nested deeply in a state": posted(
        b'{"line":{"start":{"state":' + b"[" * 2000 + b"]" * 2000 + b"}}}", (400, 422)
    ),
    "a truth value as action": posted(line(actions=[True], outcomes=[0]), 400),
    "a real number as action": posted(line(actions=[1.0], outcomes=[0]), 400),
    "a text as action": posted(line(actions=["1"], outcomes=[0]), 400),
    "a text as actions": posted(line(actions="1", outcomes=[0]), 400),
    "an object as actions": posted(line(actions={}, outcomes=[]), 400),
    "actions without outcomes": posted(line(actions=[1, 2]), 400),
    "a negative outcome": posted(line(actions=[1], outcomes=[-1]), 400),
    "an unknown action": posted(line(actions=[7], outcomes=[0]), 422),
    "an unknown outcome": posted(line(actions=[1], outcomes=[5]), 422),
    "beyond the end": posted(line(actions=[3] * 9, outcomes=[0] * 9), 422),
    "2001 plies": posted(line(actions=[1] * 2001, outcomes=[0] * 2001), 400),
    "a start that is none": posted(line(start={"drawn": 3}), 422),
    "two starts": posted(line(start={"drawn": 0, "seed": 0}), 400),
    "a state of another shape": posted(line(start={"state": {"player": [], "left": {}}}), 422),
    "a state that is not reached": posted(line(start={"state": {"player": 0, "left": 99}}), 422),
    "a state of 10^300": posted(line(start={"state": {"player": 0, "left": 10**300}}), 422),
    "a negative seed": posted(then(action=1, seed=-1), 400),
    "a list as seed": posted(then(action=1, seed=[1]), 400),
    "a seed of 10^300": posted(then(action=1, seed=10**300), 400),
    "action and player": posted(then(action=1, player={"kind": "random"}, seed=1), 400),
    "nothing to do": posted(then(seed=1), 400),
    "an unknown player": posted(then(player={"kind": "root"}, seed=1), 400),
    "a search without limits": posted(then(player={"kind": "search"}, seed=1), 400),
    "a search of an hour": posted(then(player={"kind": "search", "seconds": 3600}, seed=1), 400),
    "a search of 99 plies": posted({"line": {}, "look": {"depth": 99}}, 400),
    "chance above 1": posted(then(player={"kind": "mistaken", "chance": 2}, seed=1), 400),
    "an unknown parameter": posted({"line": {}, "parameters": {"rm": 1}}, 422),
    "a parameter of another type": posted({"line": {}, "parameters": {"matches": "18"}}, 422),
    "a huge parameter": posted({"line": {}, "parameters": {"matches": 10**6}}, 422),
    "a parameter of 10^300": posted({"line": {}, "parameters": {"matches": 10**300}}, 422),
    "a negative parameter": posted({"line": {}, "parameters": {"matches": -5}}, 422),
    "a die of 100000 faces": posted(
        {"line": {}, "parameters": {"faces": 10**5, "goal": 10**5}},
        409,
        path="/api/games/wubbel/position",
    ),
    "heaps of a million actions": posted(
        {"line": {}, "parameters": {"heaps": [10**5] * 64}}, 409, path="/api/games/nim/position"
    ),
    "a list too long": posted({"line": {}, "parameters": {"takes": [1] * 100}}, 422),
    "a parameter with a class": posted(
        {"line": {}, "parameters": {"takes": {"class": "this:X", "fields": {}}}}, 422
    ),
    "parameters in a list": posted({"line": {}, "parameters": ["matches"]}, 400),
    "100 parameters": posted(
        {"line": {}, "parameters": {f"p{number}": 1 for number in range(100)}}, 400
    ),
    "17 kB": posted(b" " * 17 * 1024, 413),
    "17 kB of history": posted(b" " * 17 * 1024, 413, path=HISTORY),
    "no utf-8": posted(b'{"line":{},"parameters":{"\xff":1}}', 400),
    "half a surrogate": posted(b'{"line":{},"parameters":{"\\ud800":1}}', 422),
    "a form": posted({"line": {}}, 415, headers={"content-type": "text/plain"}),
    "another host": posted({"line": {}}, 403, headers={"host": "evil.example"}),
    "no host": posted({"line": {}}, 403, headers={"host": ""}),
    "a host and a trick": posted({"line": {}}, 403, headers={"host": "127.0.0.1.evil.example"}),
    "another origin": posted({"line": {}}, 403, headers={"origin": "http://evil.example"}),
    "no origin": posted({"line": {}}, 403, headers={"origin": "null"}),
    "a game that is none": posted({"line": {}}, 404, path="/api/games/os/position"),
    "a game from a file": posted({"line": {}}, 404, path="/api/games/..%2f..%2fx.py:X/position"),
    "a history that is none": posted({"line": {}, "then": None}, 400, path=HISTORY),
    "another method": got(POSITION, 405),
    "a method of its own": got("/api/games", 405, method="PROPFIND"),
    "deleting": got("/index.html", (404, 405), method="DELETE"),
    "nowhere": got("/nowhere", 404),
    "out of the folder": got("/static/../../app.py", 404),
    "out of the folder, quoted": got("/static/%2e%2e/%2e%2e/app.py", 404),
    "a file of the system": got("//etc/passwd", 404),
    "a null byte": got("/static/%00", 404),
    "a long address": got("/" + "a" * 5000, 400),
    "a long query": got("/api/games?" + "a" * 5000, 400),
}
