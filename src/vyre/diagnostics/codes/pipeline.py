"""P1##: a pipeline cannot be compiled, or a call of it went wrong."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

_HEAD = """\
import numpy as np
import vyre as vy

@vy.kernel
def double(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = 2.0 * x[i]

"""
_X = "x = np.zeros(4, np.float32)\n"

OUTSIDE = Code(
    "P101",
    "used outside of a pipeline",
    "vy.{name} means something only inside of a pipeline",
    "call it in a function that is decorated with @vy.pipeline",
    example="import vyre as vy\n\nvy.flag()",
)
STATEMENT = Code(
    "P102",
    "statement that pipelines do not have",
    "a pipeline cannot use {what}",
    "{instead}",
    example=_HEAD
    + """\
@vy.pipeline
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    print(x)
    double(x, y)
""",
)
ON_THE_DEVICE = Code(
    "P103",
    "value that is on the device",
    "{what} is on the device while the pipeline runs; the host cannot compute with it",
    "{instead}",
    example=_HEAD
    + """\
@vy.pipeline
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    if x[0] > 1.0:
        double(x, y)
""",
)
NOT_A_STAGE = Code(
    "P104",
    "call of something that is no stage",
    "{name} is {found}; the stages of a pipeline are kernels, operations and pipelines",
    "{instead}",
    example=_HEAD
    + """\
def plain(x):
    pass

@vy.pipeline
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    plain(x)
""",
)
ARGUMENT = Code(
    "P105",
    "argument that a stage cannot take",
    "{stage} {problem}",
    "{fix}",
    example=_HEAD
    + """\
@vy.pipeline
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    double(x, len(y))
""",
)
SAME_ARRAY = Code(
    "P106",
    "one array for two parameters",
    "{stage} gets {array!r} as {one!r} and as {two!r}, and writes it",
    "take another array for one of them: t = vy.scratch_like({array})",
    example=_HEAD
    + """\
@vy.pipeline
def twice(x: vy.InOut[vy.f32]):
    double(x, x)
""",
)
NEVER_WRITTEN = Code(
    "P107",
    "scratch that no stage writes",
    "the scratch {name!r} is read, but no stage writes it",
    "write it in a stage before, or pass an array of zeros",
    example=_HEAD
    + """\
@vy.pipeline
def twice(y: vy.Out[vy.f32]):
    t = vy.scratch(vy.f32, len(y))
    double(t, y)
""",
)
SIZE = Code(
    "P108",
    "impossible size of scratch",
    "the scratch {name!r} would have {found} elements {where}: {problem}",
    "{fix}",
    example=_HEAD
    + """\
@vy.pipeline
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch(vy.f32, len(x) - 5)
    double(x, t)
    double(t, y)

"""
    + _X
    + "twice(x, np.zeros_like(x))",
)
MOST_REACHED = Code(
    "P109",
    "loop that did not end",
    "after {most} iterations of while vy.again({flag}) the flag is still set",
    "allow more with most=, or find out why a stage keeps setting the flag; the arrays hold what "
    "these iterations computed",
    example="""\
import numpy as np
import vyre as vy

@vy.kernel
def always(x: vy.InOut[vy.f32], moved: vy.InOut[vy.u32]):
    x[vy.gid()] += 1.0
    moved.atomic_max(0, 1)

@vy.pipeline
def settle(x: vy.InOut[vy.f32]):
    moved = vy.flag()
    while vy.again(moved, most=10):
        always(x, moved, elements=1)

settle(np.zeros(1, np.float32))""",
)
RETURNED = Code(
    "P110",
    "return of something that is not scratch",
    "a pipeline cannot return {what}",
    "return scratch: return t, after t = vy.scratch(vy.f32, n)",
    example=_HEAD
    + """\
@vy.pipeline
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    double(x, y)
    return y
""",
)
BRANCHES_DIFFER = Code(
    "P111",
    "name that depends on the device",
    "{name!r} is assigned again inside if vy.when({flag}): what it stands for would be known on "
    "the device only",
    "write to one array in both branches, by a stage or by vy.copy",
    example=_HEAD
    + """\
@vy.pipeline
def twice(x: vy.InOut[vy.f32], y: vy.InOut[vy.f32], f: vy.In[vy.u32]):
    a = x
    if vy.when(f):
        a = y
    t = vy.scratch_like(x)
    double(a, t)
    vy.copy(t, x)
""",
)
RECURSION = Code(
    "P112",
    "pipeline that calls itself",
    "{name} calls itself: {path}",
    "write a loop: for step in range(n)",
    example=_HEAD
    + """\
@vy.pipeline
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    double(x, y)
    twice(x, y)

"""
    + _X
    + "twice(x, np.zeros_like(x))",
)
CONTRACT = Code(
    "P113",
    "contract that a plan does not keep",
    "{name} requires {what} of at most {most}, and its plan has {found}: {why}",
    "change the stages as the reason says, or the contract",
    example=_HEAD
    + """\
@vy.pipeline(require={"launches": 1}, fuse=False)
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    double(x, t)
    double(t, y)

"""
    + _X
    + "twice(x, np.zeros_like(x))",
)
BAD_CONTRACT = Code(
    "P114",
    "contract that says nothing",
    "require={found!r} is not a contract",
    "write numbers by name: require={{'launches': 1}}; the names are {known}",
    example=_HEAD
    + """\
@vy.pipeline(require={"speed": 1})
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    double(x, y)
""",
)
UNBOUND = Code(
    "P115",
    "name without a value",
    "{name!r} has no value here",
    "assign to it on every way to this line",
    example=_HEAD
    + """\
@vy.pipeline
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32], n: vy.u32):
    if n > 1:
        t = vy.scratch_like(x)
    double(x, t)

"""
    + _X
    + "twice(x, np.zeros_like(x), 1)",
)
HOST_VALUE = Code(
    "P116",
    "host value that cannot be used",
    "{text} {problem}",
    "{fix}",
    example=_HEAD
    + """\
@vy.pipeline
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch(vy.f32, len(x) // (len(x) - 4))
    double(x, t)
    double(t, y)

"""
    + _X
    + "twice(x, np.zeros_like(x))",
)
READ_ONLY = Code(
    "P117",
    "argument that is only read",
    "{stage} writes {array!r}, which {pipeline} declares as vy.In",
    "declare it as vy.InOut, or write to scratch that is made with vy.scratch_like({array})",
    example=_HEAD
    + """\
@vy.pipeline
def twice(x: vy.In[vy.f32], y: vy.In[vy.f32]):
    double(x, y)
""",
)
COUNT_ABOVE = Code(
    "P118",
    "count above its limit",
    "the scratch {name!r} has {found} elements, and vy.at_most allows {most}",
    "allow more: vy.at_most(n), or find out why a stage counts that many",
    example="""\
import numpy as np
import vyre as vy

@vy.kernel
def all_of(x: vy.In[vy.u32], found: vy.Out[vy.u32], n: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        found[n.atomic_add(0, 1)] = x[i]

@vy.pipeline
def few(x: vy.In[vy.u32]) -> vy.Array[vy.u32]:
    n = vy.scratch(vy.u32, 1)
    found = vy.scratch(vy.u32, vy.at_most(2), count=n)
    all_of(x, found, n)
    return found

few(np.zeros(4, np.uint32))""",
)

CODES = (
    OUTSIDE,
    STATEMENT,
    ON_THE_DEVICE,
    NOT_A_STAGE,
    ARGUMENT,
    SAME_ARRAY,
    NEVER_WRITTEN,
    SIZE,
    MOST_REACHED,
    RETURNED,
    BRANCHES_DIFFER,
    RECURSION,
    CONTRACT,
    BAD_CONTRACT,
    UNBOUND,
    HOST_VALUE,
    READ_ONLY,
    COUNT_ABOVE,
)
