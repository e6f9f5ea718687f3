"""O###: passes cannot be declared, chosen, scheduled or trusted."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

DUPLICATE_PASS = Code(
    "O001",
    "two passes of one name",
    "there are two passes named {name!r}",
    "give each pass a name of its own; one that replaces another must be scheduled instead of it",
    example=(
        "from vyre.opt import PassScheduler, pass_by_name\n"
        "PassScheduler([pass_by_name('dce'), pass_by_name('dce')])"
    ),
)
UNKNOWN_REQUIREMENT = Code(
    "O002",
    "a required pass is not there",
    "the pass {name!r} requires {requirement!r}, which is not scheduled",
    "schedule {requirement!r} too, or take it out of what {name!r} requires",
    example=(
        "from vyre.opt import Pass, PassPhase, PassResult, PassScheduler, vyre_pass\n\n"
        "@vyre_pass(name='lonely', phase=PassPhase.CLEANUP, requires=('missing',))\n"
        "class Lonely(Pass):\n"
        "    'Does nothing. Legal always.'\n"
        "    def transform(self, program, context):\n"
        "        return PassResult(program)\n\n"
        "PassScheduler([Lonely()])"
    ),
)
REQUIREMENT_CYCLE = Code(
    "O003",
    "passes require each other in a circle",
    "these passes require each other: {names}",
    "take one of the requirements out",
    example=(
        "from vyre.opt import Pass, PassPhase, PassResult, PassScheduler, vyre_pass\n\n"
        "@vyre_pass(name='selfish', phase=PassPhase.CLEANUP, requires=('selfish',))\n"
        "class Selfish(Pass):\n"
        "    'Does nothing. Legal always.'\n"
        "    def transform(self, program, context):\n"
        "        return PassResult(program)\n\n"
        "PassScheduler([Selfish()])"
    ),
)
NO_CONVERGENCE = Code(
    "O004",
    "the passes do not come to rest",
    "after {iterations} rounds these passes still change the program: {names}",
    "two of them undo each other, or one never finishes; leave one out and report the program",
    example=(
        "from vyre.ir import Node, Program\n"
        "from vyre.opt import Pass, PassPhase, PassResult, PassScheduler, vyre_pass\n\n"
        "@vyre_pass(name='restless', phase=PassPhase.CLEANUP)\n"
        "class Restless(Pass):\n"
        "    'Adds a block. Legal always.'\n"
        "    def transform(self, program, context):\n"
        "        longer = [*program.entry, Node.block([])]\n"
        "        return PassResult(program.with_rewritten_entry(longer))\n\n"
        "PassScheduler([Restless()]).run(Program.wrapped([], (1, 1, 1), []))"
    ),
)
BAD_DECLARATION = Code(
    "O005",
    "a pass is declared wrongly",
    "the pass {name!r} cannot be declared: {problem}",
    "{fix}",
    example=(
        "from vyre.opt import PassPhase, vyre_pass\n\n"
        "@vyre_pass(name='stray', phase=PassPhase.CLEANUP)\n"
        "class Stray:\n"
        "    'Not a pass.'"
    ),
)
UNKNOWN_PASS = Code(
    "O006",
    "unknown pass",
    "there is no pass {name!r}",
    "use one of: {known}",
    example="from vyre.opt import pass_by_name\npass_by_name('magic')",
)
BAD_REPORT = Code(
    "O007",
    "not an optimizer report",
    "{where} does not hold an optimizer report: {problem}",
    "save one with OptimizerRunReport.save, with this version of vyre",
    example="from vyre.opt import OptimizerRunReport\nOptimizerRunReport.from_json('{}')",
)
BAD_HINTS = Code(
    "O008",
    "hot-path hints out of range",
    "{field} of hot-path hints cannot be {found}",
    "{expected}",
    example="from vyre.opt import HotPathHints\nHotPathHints(capacity=-1)",
)
BROKEN_PASS = Code(
    "O009",
    "a pass made a program that is not valid",
    "after the pass {name!r} the checker says: {problem}",
    "this is a defect of the pass: {advice}",
    example=(
        "from vyre.ir import Expr, Node, Program\n"
        "from vyre.opt import Pass, PassPhase, PassResult, PassScheduler, vyre_pass\n\n"
        "@vyre_pass(name='vandal', phase=PassPhase.CLEANUP)\n"
        "class Vandal(Pass):\n"
        "    'Breaks the program. Legal never.'\n"
        "    def transform(self, program, context):\n"
        "        return PassResult(program.with_rewritten_entry([Node.eval(Expr.var('x'))]))\n\n"
        "PassScheduler([Vandal()], verify=True).run(Program.wrapped([], (1, 1, 1), []))"
    ),
)
BAD_RULE = Code(
    "O010",
    "a rewrite rule is written wrongly",
    "the rule {name!r} cannot be used: {problem}",
    "{fix}",
    example=(
        "from vyre.ir.types import INTEGER_TYPES\n"
        "from vyre.rewrite import Rule, x, y\n"
        "Rule('invents_y', x + 0, y, INTEGER_TYPES).instances()"
    ),
)
BAD_ENTRY_POINT = Code(
    "O011",
    "an installed pass cannot be used",
    "the entry point {name!r} of the group vyre.passes is not a pass: {problem}",
    "uninstall the package that brings it; the entry point must name a class made by vyre_pass",
    example=(
        "from importlib.metadata import EntryPoint\n"
        "from vyre.opt.registry import load_entry_point\n"
        "load_entry_point(EntryPoint('bad', 'math:pi', 'vyre.passes'))"
    ),
)
UNKNOWN_PROFILE = Code(
    "O012",
    "unknown optimizer profile",
    "there is no optimizer profile {name!r}",
    "use one of: {known}",
    example="from vyre.opt import OptimizerProfile\nOptimizerProfile.parse('turbo')",
)
FAILED_PASS = Code(
    "O013",
    "a pass failed",
    "the pass {name!r} of {origin} failed: {problem}",
    "{advice}",
    example=(
        "from vyre.ir import Program\n"
        "from vyre.opt import Pass, PassPhase, PassScheduler, vyre_pass\n\n"
        "@vyre_pass(name='clumsy', phase=PassPhase.CLEANUP)\n"
        "class Clumsy(Pass):\n"
        "    'Does too much. Legal never.'\n"
        "    def transform(self, program, context):\n"
        "        return 1 // 0\n\n"
        "PassScheduler([Clumsy()]).run(Program.wrapped([], (1, 1, 1), []))"
    ),
)

CODES = (
    DUPLICATE_PASS,
    UNKNOWN_REQUIREMENT,
    REQUIREMENT_CYCLE,
    NO_CONVERGENCE,
    BAD_DECLARATION,
    UNKNOWN_PASS,
    BAD_REPORT,
    BAD_HINTS,
    BROKEN_PASS,
    BAD_RULE,
    BAD_ENTRY_POINT,
    UNKNOWN_PROFILE,
    FAILED_PASS,
)
