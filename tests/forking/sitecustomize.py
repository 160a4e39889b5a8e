"""Python runs this first where this folder is on PYTHONPATH: the process forks the programs of ours that it starts."""

import os

if server := os.environ.get("FORK_SERVER"):
    from tests.commands import fork_programs

    fork_programs(server)
