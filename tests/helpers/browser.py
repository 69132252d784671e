"""A real browser, and a server that it asks over the network of this machine."""

import contextlib
import shutil
import socket
import threading

import pytest

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextlib.contextmanager
def chromium():
    """Start the browser that the machine has; skip the test if there is none.

    Playwright runs an event loop in this thread until it is closed, so no other may run meanwhile.
    """
    api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser on this machine: none of {', '.join(NAMES)} is installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@contextlib.contextmanager
def served(app):
    """Serve an application at a free port; yield its address."""
    uvicorn = pytest.importorskip("uvicorn")
    config = uvicorn.Config(app, lifespan="off", log_level="warning", ws="none")
    server = uvicorn.Server(config)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server.should_exit = True
        thread.join()
