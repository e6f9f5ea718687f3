"""docs/cli.md, from the commands themselves: `python -m vyre.cli.page > docs/cli.md`."""

from __future__ import annotations

import argparse

from vyre.cli.command import COMMANDS, command
from vyre.cli.program import command_parser

_HEAD = """\
# The command line

`vyre COMMAND ...`, also `python -m vyre COMMAND ...`. FILE is program text (`.vy`), program bytes
(`.vyb`), or a kernel in a Python file (`module.py:kernel`). `--json` prints for programs what is
otherwise printed for people. Exit codes: 0 all is well, 1 what was asked for failed, 2 the command
line is wrong.

This page is written by `python -m vyre.cli.page`.
"""


def page() -> str:
    """The whole page."""
    lines = [_HEAD]
    for name in COMMANDS:
        lines += _section(name)
    return "\n".join(lines)


def _section(name: str) -> list[str]:
    module = command(name)
    summary = module.SUMMARY
    lines = [f"## vyre {name}", "", f"{summary[0].upper()}{summary[1:]}.", ""]
    lines += [f"    {module.EXAMPLE}", "", "| argument | meaning |", "| --- | --- |"]
    for action in command_parser(name, module)._actions:
        if action.dest != "help":
            lines.append(f"| `{_spelling(action)}` | {_meaning(action)} |")
    return [*lines, ""]


def _spelling(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings) or str(action.metavar or action.dest)
    if action.option_strings and action.nargs != 0:
        value = action.metavar or ("…" if action.choices else action.dest.upper())
        return f"{names} {value}"
    return names


def _meaning(action: argparse.Action) -> str:
    words = str(action.help or "").replace("|", "\\|")
    if action.choices:
        words += f" ({', '.join(str(choice) for choice in action.choices)})"
    return words


if __name__ == "__main__":
    print(page(), end="")
