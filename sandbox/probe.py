"""What this machine can isolate, found by trying it in a throw-away guest.

Enters: a backend's name. Leaves: an `IsolationReport` that also names what is missing.
Asks the kernel, assumes nothing.
"""

from __future__ import annotations

from typing import Any

from sandbox.backends.base import IsolationReport, create_backend
from sandbox.errors import ClosedError, IsolationError


async def probe(backend: str = "process", **options: Any) -> IsolationReport:
    """Start the backend, take its report, end it again. Required layers may be missing in the report.

    Raises:
        SpecError: there is no backend of that name.
        IsolationError: the platform is another one, or a layer failed so early that nothing could be tried.
        GuestError: no guest could be started.
    """
    engine = create_backend(backend, **options)
    try:
        await engine.start()
    except IsolationError as error:
        try:
            return engine.describe()
        except ClosedError:
            raise error from None
    finally:
        await engine.aclose()
    return engine.describe()
