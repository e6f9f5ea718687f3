"""The entry point: parse the command line, run one command, turn errors into exit codes."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from vyre import __version__
from vyre.cli.command import (
    COMMANDS,
    DONE,
    FAILED,
    INTERRUPTED,
    MISUSED,
    Command,
    UsageError,
    command,
)
from vyre.diagnostics import Diagnostic, VyreError

_EXIT_CODES = "exit codes: 0 all is well, 1 what was asked for failed, 2 wrong command line"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = next((word for word in given if not word.startswith("-")), None)
    try:
        # Only the command that is used is imported: each may need libraries that load slowly.
        if name in COMMANDS and given[0] == name:
            parser = command_parser(name, command(name))
            parser.in_json = "--json" in given
            return _run(command(name), parser, parser.parse_args(given[1:]))
        if given == ["--version"]:
            print(f"vyre {__version__}")
            return DONE
        if not given:
            full_parser().print_help(sys.stderr)
            return MISUSED
        parser = full_parser()
        parser.in_json = "--json" in given
        parser.parse_args(given)
    except KeyboardInterrupt:
        return INTERRUPTED
    return DONE


class Parser(argparse.ArgumentParser):
    """A parser that says in JSON what is wrong where JSON was asked for."""

    in_json = False

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line, and end."""
        if not self.in_json:
            super().error(message)
        _say_in_json(message)
        raise SystemExit(MISUSED)


def command_parser(name: str, module: Command) -> Parser:
    """The parser of one command."""
    parser = Parser(
        f"vyre {name}",
        description=module.SUMMARY,
        epilog=f"example:\n  {module.EXAMPLE}\n\n{_EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    return parser


def full_parser() -> Parser:
    """The parser of `vyre` itself, which knows all commands by name."""
    lines = [f"  {name:<10}{command(name).SUMMARY}" for name in COMMANDS]
    parser = Parser(
        "vyre",
        description="Compute kernels: checked, optimised, and run on whatever device is there.",
        usage="vyre COMMAND ...",
        epilog="\n".join(
            ["commands:", *lines, "", "vyre COMMAND --help says more.", "", _EXIT_CODES]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"vyre {__version__}")
    parser.add_argument("command", choices=list(COMMANDS), metavar="COMMAND", help="what to do")
    return parser


def _run(module: Command, parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    try:
        code = module.run(options)
        sys.stdout.flush()
        return code
    except UsageError as problem:
        if options.json:
            _say_in_json(str(problem))
        else:
            sys.stderr.write(f"{parser.prog}: {problem}\n")
        return MISUSED
    except VyreError as error:
        if options.json:
            print(json.dumps({"errors": [as_json(found) for found in error.diagnostics]}))
        else:
            sys.stderr.write(f"{error}\n")
        return FAILED
    except BrokenPipeError:
        # The reader has had enough, as `head` does; nothing can be written any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as problem:
        if problem.filename is None:
            raise
        wrong = f"{problem.filename}: {problem.strerror}"
        if options.json:
            _say_in_json(wrong)
        else:
            sys.stderr.write(f"{parser.prog}: {wrong}\n")
        return FAILED


def _say_in_json(wrong: str) -> None:
    print(json.dumps({"errors": [{"code": None, "message": wrong}]}))


def as_json(found: Diagnostic) -> dict[str, object]:
    """A diagnostic for programs."""
    span = found.location.span
    return {
        "code": found.code,
        "severity": found.severity.value,
        "message": found.message,
        "fix": found.fix,
        "where": str(found.location),
        "line": None if span is None else span.line,
        "column": None if span is None else span.column,
    }
