"""`call:package.module:function`: a Python function of the user's own."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from encoder_lab.errors import InputError, in_one_line


def function_named(name: str, purpose: str) -> Callable[..., Any]:
    """The function `package.module:function`, also in the current folder. Raises InputError, also if it fails."""
    module, _, function = name.partition(":")
    if not module or module.startswith(".") or not function:
        raise InputError(f"call:{name}: write call:package.module:function")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.append(folder)
    with _own_code(f"call:{name}: the module"):
        try:
            target = getattr(import_module(module), function)
        except (ImportError, AttributeError) as error:
            raise InputError(f"call:{name}: {error}") from None
    if not callable(target):
        raise InputError(f"call:{name}: not a function; give one that {purpose}")

    @wraps(target)
    def named(*arguments: Any) -> Any:
        with _own_code(f"call:{name}: the function"):
            return target(*arguments)

    return named


@contextmanager
def _own_code(place: str) -> Iterator[None]:
    """Errors of the user's code in the block are InputError; so are its exits, not those of processes it starts."""
    process, leave = os.getpid(), os._exit
    os._exit = lambda status: sys.exit(status) if os.getpid() == process else leave(status)  # type: ignore[assignment]
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{place} failed, {type(error).__name__}: {in_one_line(error)}") from error
    finally:
        os._exit = leave
