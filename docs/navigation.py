"""The order of the pages on the site that `make docs` builds.

A page that is missing here fails the build and `tests/docs/test_site.py`: on the site it could
not be found.
"""

from __future__ import annotations

HOME = "docs/index"
NAVIGATION: dict[str, tuple[str, ...]] = {
    "Start": (
        "docs/install",
        "docs/tutorial",
        "docs/pipelines",
        "docs/howto/coming-from",
        "docs/questions",
        "docs/glossary",
    ),
    "How-tos": (
        "docs/howto/find-a-race",
        "docs/howto/read-an-explanation",
        "docs/howto/device-arrays",
        "docs/howto/web-page",
        "docs/howto/grid-barriers",
        "docs/howto/processes-and-signals",
        "docs/howto/fuse-programs",
        "docs/howto/add-an-opcode",
        "docs/howto/add-a-pass",
        "docs/howto/change-the-cpu-backend",
        "docs/howto/write-a-rule",
        "docs/howto/add-a-backend",
    ),
    "Reference": (
        "docs/reference/api",
        "docs/reference/codes",
        "docs/reference/opcodes",
        "docs/reference/host-border",
        "docs/cli",
    ),
    "Language and semantics": (
        "docs/spec/kernels",
        "docs/spec/ir",
        "docs/spec/types",
        "docs/spec/floats",
        "docs/spec/memory",
        "docs/spec/execution",
        "docs/spec/pipelines",
        "docs/spec/checks",
        "docs/spec/text",
        "docs/spec/wire",
    ),
    "Compiler": (
        "docs/architecture",
        "docs/passes",
        "docs/reference/cpu-passes",
        "docs/reference/cpu-tuning",
        "docs/spec/optimizer",
        "docs/conformance",
        "docs/checking-results",
        "docs/cache",
        "docs/native-runtime",
        "docs/benchmarks",
    ),
    "Project": (
        "CHANGELOG",
        "CONTRIBUTING",
        "tests/files/README",
    ),
}
"""Names of pages without `.md`, from the top of the repository, below the titles of the sidebar."""


def toctrees() -> str:
    """The navigation as directives of MyST; they show in the sidebar only."""
    blocks: list[str] = []
    for caption, pages in NAVIGATION.items():
        entries = [f"/{page}" for page in pages]
        blocks += ["```{toctree}", ":hidden:", f":caption: {caption}", "", *entries, "```", ""]
    return "\n".join(blocks)
