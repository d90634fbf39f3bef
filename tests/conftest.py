"""What every test gets: asyncio under anyio, the sample data when it lies beside the repository, and no stopwatch."""

from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.once import Once

ROOT = Path(__file__).resolve().parents[1]

settings.register_profile("codemode", deadline=None)  # an example's time says how busy the machine is
settings.load_profile("codemode")


@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of sample data; the test says that it did not run when it is not there."""
    place = ROOT.parent / "shared"
    if not place.is_dir():
        pytest.skip("did not run: no sample data in `../shared`")
    return place


@pytest.fixture(scope="session")
def once(tmp_path_factory) -> Once:
    """Makes a thing once for all workers of the session."""
    return Once(tmp_path_factory.getbasetemp())
