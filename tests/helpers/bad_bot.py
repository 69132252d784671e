"""A program that plays well until one of its questions, and there does what is told."""

import json
import os
import signal
import sys
import time

FAULT, MOMENT = sys.argv[1], int(sys.argv[2])


def send(text):
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def answer(number, action):
    return json.dumps({"id": number, "action": action}).encode() + b"\n"


def misbehave(number):
    if FAULT == "crash":
        message = "out of ideas"
        raise SystemExit(message)
    if FAULT == "signal":
        os.kill(os.getpid(), signal.SIGRTMIN + 6)  # one without a name
    texts = {
        "nonsense": b"I roll\n",
        "illegal": answer(number, 7),
        "true": answer(number, True),
        "nan": answer(number, float("nan")),
        "ahead": answer(number, 0) + answer(number + 1, 0),
        "brackets": b"[" * 20_000 + b"\n",
        "bytes": b'{"id": \xff\xfe}\n',
    }
    send(texts.get(FAULT, b""))
    while FAULT == "flood":
        send(b"x" * 50_000)
    while FAULT == "lines":
        send(b"\n" * 50_000)
    while FAULT == "drip":
        send(b" ")
        time.sleep(0.01)
    if FAULT == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.fork()
    if FAULT == "closes":
        os.close(0)  # over TCP, the two are one
        os.close(1)
    if FAULT == "memory":
        keep = bytearray(4 << 30)
        send(answer(number, keep[0]))
    if FAULT == "stderr":
        for _ in range(20):
            os.write(2, b"!" * 50_000)
        send(answer(number, 0))
    else:
        time.sleep(600)


asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if message.get("ask") == "hello":
        asked = 0
        send(json.dumps({"id": message["id"], "name": f"{FAULT} bot"}).encode() + b"\n")
    elif message.get("ask") == "action":
        if asked == MOMENT:
            misbehave(message["id"])
        else:
            send(answer(message["id"], message["actions"][0]))
        asked += 1
