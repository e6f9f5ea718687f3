"""Random device functions: several results, tuples as arguments, defaults, early returns."""

from __future__ import annotations

from vyre.conform.generate.dice import Dice
from vyre.conform.python.around import Device, Outside
from vyre.conform.python.expressions import Expressions
from vyre.conform.python.loops import Loops
from vyre.conform.python.scope import PAIR, REAL, TRUTH, TUPLES, WHOLE, Kind, Scope, World
from vyre.conform.python.statements import DEEPEST

_RESULTS: tuple[Kind, ...] = (WHOLE, WHOLE, PAIR, REAL, *TUPLES[1:])
_PARAMETERS: tuple[Kind, ...] = (WHOLE, WHOLE, WHOLE, REAL, TRUTH, PAIR, TUPLES[3])


def shared_functions(world: World) -> list[str]:
    """The functions with effects that all kernels have; arrays that two names have may be one."""
    end = "" if world.wraps else " % 499"
    return [
        *("@vy.func", "def bump(there, at, by):"),
        *(f"    there[at] = (there[at] + by){end}", "    return there[at]", ""),
        *("@vy.func", "def move(there, here, at, by):", "    before = here[at]"),
        *(f"    there[at] = (before + by){end}", "    by = here[at] - before"),
        f"    return (by + here[at + 1]){end}",
    ]


class Functions:
    """Writes device functions; later ones call earlier ones."""

    def __init__(self, dice: Dice, world: World, outside: Outside) -> None:
        self.dice = dice
        self.world = world
        self.outside = outside
        """What stands around the functions; the ones written are added to it."""
        self.lines: list[str] = []

    def write(self, number: int) -> None:
        """One more function."""
        dice = self.dice
        name, has_effect = f"f{number}", dice.chance(5)
        result = dice.pick(_RESULTS)
        scope = Scope()
        parameters: list[tuple[str, Kind]] = []
        for _ in range(dice.between(1, 3)):
            kind = dice.pick(_PARAMETERS)
            parameter = scope.new(dice, kind)
            scope.bind(parameter, kind)
            parameters.append((parameter, kind))
        optional = self._optional(parameters)
        is_keyword = bool(optional) and dice.chance(3)
        arrays = ("there", "at") if has_effect else ()
        scope.taken.update((*arrays, "bump", "move"))
        outside = self._outside(scope, has_effect=has_effect)
        body = Body(Expressions(dice, self.world, scope, outside))
        last, kind = parameters[-1]
        if optional and kind == PAIR:
            # A table from outside is no tuple that a name can have in turn with others.
            body.line(1, f"{last} = ({last}[0], {last}[1])")
        body.function(result)
        texts = [
            *arrays,
            *(
                self._parameter(one, at >= len(parameters) - optional)
                for at, one in enumerate(parameters)
            ),
        ]
        if is_keyword:
            texts.insert(len(texts) - optional, "*")
        self.lines += ["@vy.func", f"def {name}({', '.join(texts)}):", *body.lines, ""]
        keyword = frozenset(one for one, _ in parameters[len(parameters) - optional :])
        made = Device(
            name,
            tuple(parameters),
            result,
            optional,
            keyword if is_keyword else frozenset(),
            has_effect,
        )
        self.outside.functions.append(made)

    def _optional(self, parameters: list[tuple[str, Kind]]) -> int:
        """How many of the last parameters have a default."""
        if parameters[-1][1] == WHOLE and self.dice.chance(4):
            return 1
        return 1 if parameters[-1][1] == PAIR and not self.world.wraps else 0

    def _parameter(self, parameter: tuple[str, Kind], has_default: bool) -> str:
        name, kind = parameter
        text = name
        if kind in (WHOLE, REAL) and self.dice.chance(4):
            text = f"{name}: vy.{self.world.dtype if kind == WHOLE else 'f32'}"
        if not has_default:
            return text
        if kind == PAIR:
            return f"{text}=({self.dice.below(9)}, {self.dice.below(9)})"
        default = self.dice.below(30)
        return f"{text}={f'vy.{self.world.dtype}({default})' if self.world.wraps else default}"

    def _outside(self, scope: Scope, *, has_effect: bool) -> Outside:
        """What a function reads: some globals; the names of the others are free for it."""
        around = self.outside
        wholes = tuple(one for one in around.wholes if self.dice.chance(6))
        reals = tuple(one for one in around.reals if self.dice.chance(6))
        table = around.table if self.dice.chance(6) else None
        scope.taken.update((*wholes, *reals, *([table] if table else [])))
        scope.taken.update(one.name for one in around.functions)
        free = [one for one in around.wholes if one not in wholes]
        if free and self.dice.chance(5):
            # A variable of the function with the name of a global.
            scope.kinds[self.dice.pick(free)] = WHOLE
        # Few functions, so that calls within calls do not grow without end.
        functions = [one for one in around.functions if not one.has_effect][:2]
        places = ("there, at",) if has_effect else ()
        return Outside(functions, wholes, reals, table, places, arrays=())


class Body(Loops):
    """The statements of a device function, which returns at the end of branches only."""

    def __init__(self, expressions: Expressions) -> None:
        super().__init__(expressions, leaves=False)
        # They are put in place of every call: small ones show as much.
        self.depth = DEEPEST - 1

    def function(self, result: Kind) -> None:
        """Some statements and a return, or branches that return."""
        if self.outside.places and self.dice.chance(8):
            self.line(1, f"{self.make.element()} = {self.make.settled(1)}")
        if self.dice.chance(6):
            self.statement(1)
        if self.dice.chance(4):
            self._early(1, result, 1)
        self.line(1, f"return {self.make.value(result, 1)}")

    def _early(self, depth: int, result: Kind, more: int) -> None:
        """A branch that returns, or may return."""
        self.line(depth, f"if {self.make.truth(1)}:")
        with self.scope.block():
            if self.dice.chance(3):
                self.inner(depth + 1, 1)
            if more and self.dice.chance(3):
                self._early(depth + 1, result, more - 1)
            else:
                self.line(depth + 1, f"return {self.make.value(result, 1)}")
        if self.dice.chance(3):
            self.line(depth, "else:")
            with self.scope.block():
                self.inner(depth + 1, 1)
