"""``gamedp help`` and ``gamedp completion``: how to use the command line."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from gamedp.cli import COMMANDS, PLUGINS, make_app
from gamedp.runtime.registry import registered

__all__ = ["completion", "print_help"]

CommandName: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="A command; all if not given.", completer=lambda _: [*COMMANDS, *registered(PLUGINS)]
    ),
]


def print_help(command: CommandName = None, /) -> None:
    """Show what a command does and its options; without a command, list all commands."""
    app = make_app()
    if command is None:
        app.resolved_commands()  # to show the help of each command
    words = ["--help"] if command is None else [command, "--help"]
    app(words, exit_on_error=False, print_error=False, result_action="return_value")


def completion(shell: Literal["bash", "fish", "zsh"], /) -> None:
    """Print a script that lets the Tab key complete commands, options and names.

    Parameters
    ----------
    shell
        The shell that reads the script: for bash, and for zsh after compinit,
        `source <(gamedp completion bash)`; for fish, `gamedp completion fish | source`.
    """
    script = make_app().generate_completion(shell=shell)
    if shell == "bash":  # if nothing else fits, a game may be a file
        script = script.replace("complete -F", "complete -o default -F")
    if shell == "zsh":  # the script is sourced, and not a file that compinit finds
        script += "compdef _cyclopts_gamedp gamedp"
    print(script)
