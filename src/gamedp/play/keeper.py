"""Stands between a program and whoever has started it, so that the program ends with them.

Run as a script, with the standard library alone. It leads a process group, and starts the program
in it. Once nobody holds the other end of the pipe `life` any more, in whatever way that has come
about, it kills the group, itself included. Until then its number, which is the group's, is nobody
else's. The program itself is killed by its own number, too, which it keeps as long as nobody takes
note of its end: it may have left the group.

It writes two lines to `report`: an empty one once the program runs, or why it cannot be started,
behind the number of the error; and how the program has ended, in the way of `subprocess`.
"""

import _thread
import os
import signal
import sys

# What comes of `kill 0` in the program is not for the keeper.
NOT_OURS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)

# Python ignores them, and programs expect the contrary.
USUAL = (signal.SIGPIPE, signal.SIGXFSZ)


def end_with(life: int, program: int) -> None:
    """Wait for the end of those who have started the program, and kill it."""
    os.read(life, 1)  # nothing is ever written
    try:
        os.kill(program, signal.SIGKILL)
    finally:
        os.killpg(0, signal.SIGKILL)


def limit(program: int, most: int) -> None:
    """Set the limit of memory: nothing of ours runs in the program before it begins."""
    import resource  # noqa: PLC0415 - on Linux alone

    try:
        resource.prlimit(program, resource.RLIMIT_AS, (most, most))
        resource.prlimit(program, resource.RLIMIT_CORE, (0, 0))
    except (ProcessLookupError, PermissionError):  # it is gone already, or somebody else's
        pass


def keep(command: list[str], life: int, report: int, most: int) -> None:
    """Start a program, with so many bytes of memory unless these are 0, and report its end."""
    os.set_inheritable(life, False)
    os.set_inheritable(report, False)
    for number in NOT_OURS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(
                number, lambda *_: None
            )  # unlike SIG_IGN, the program does not inherit it
    try:
        program = os.posix_spawnp(command[0], command, os.environ, setsigdef=USUAL)
    except (OSError, ValueError) as error:
        os.write(report, f"{getattr(error, 'errno', None) or 0} {error}\n".encode())
        return
    _thread.start_new_thread(end_with, (life, program))
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in range(3):  # the program alone has them: they are closed where it closes them
        os.dup2(nothing, file)
    try:
        if most:
            limit(program, most)
        os.write(report, b"\n")
        ended = os.waitid(os.P_PID, program, os.WEXITED | os.WNOWAIT)
        if ended is not None:  # it waits until there is something to tell
            sign = 1 if ended.si_code == os.CLD_EXITED else -1
            os.write(report, f"{sign * ended.si_status}\n".encode())
    except OSError:  # nobody reads it any more, and the program is about to be killed
        pass
    while True:
        signal.pause()


if __name__ == "__main__":
    keep(sys.argv[4:], *map(int, sys.argv[1:4]))
