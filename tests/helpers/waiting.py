"""Waiting for other processes, however busy the machine is."""

import signal
import time

PATIENCE = 240.0
"""Seconds; a whole test has 300 before the run is ended, and told where it stood."""


def wait_until(is_so, process=None):
    """Wait until something is so; refuse to go on if it never is, or a process has ended."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


def output_after_interrupt(process, started):
    """Send Ctrl-C once a file is there; return the exit code, the output and the errors."""
    wait_until(started.exists, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err
