"""Supervision of a program, so that it ends with the process that has started it.

Run as a script, with the standard library alone. It leads a process group, and starts the program
in it. Once the other end of the pipe `life` is closed everywhere, for whatever reason, it kills the
group, itself included. Until then its number, which is also the group's, is not reused. The program
is also killed by its own number, since it may have left the group; that number is not reused before
the program is waited for.

It writes two lines to `report`: an empty one once the program runs, or the number of the error and
the reason why it cannot be started; and the program's exit status as `subprocess` gives it.
"""

import _thread
import os
import signal
import sys

# The keeper ignores the signals of `kill 0` in the program.
NOT_OURS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)

# Python ignores these signals; programs expect their default action.
USUAL = (signal.SIGPIPE, signal.SIGXFSZ)


def end_with(life: int, program: int) -> None:
    """Wait for the end of the process that has started the program, and kill the program."""
    os.read(life, 1)  # nothing is ever written
    try:
        os.kill(program, signal.SIGKILL)
    finally:
        os.killpg(0, signal.SIGKILL)


def limit(program: int, most: int) -> None:
    """Set the memory limit: no code of the parent runs in the child before the program begins."""
    import resource  # noqa: PLC0415 - on Linux alone

    try:
        resource.prlimit(program, resource.RLIMIT_AS, (most, most))
        resource.prlimit(program, resource.RLIMIT_CORE, (0, 0))
    except (ProcessLookupError, PermissionError):  # it is gone already, or owned by another user
        pass


def keep(command: list[str], life: int, report: int, most: int) -> None:
    """Start a program, with a limit of memory in bytes unless it is 0, and report its end."""
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
    for file in range(3):  # only the program has them open, so that it can close them
        os.dup2(nothing, file)
    try:
        if most:
            limit(program, most)
        os.write(report, b"\n")
        ended = os.waitid(os.P_PID, program, os.WEXITED | os.WNOWAIT)
        if ended is not None:  # it waits until there is something to report
            sign = 1 if ended.si_code == os.CLD_EXITED else -1
            os.write(report, f"{sign * ended.si_status}\n".encode())
    except OSError:  # no process reads it any more, and the program is about to be killed
        pass
    while True:
        signal.pause()


if __name__ == "__main__":
    keep(sys.argv[4:], *map(int, sys.argv[1:4]))
