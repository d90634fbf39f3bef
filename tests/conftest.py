"""What every test gets: asyncio under anyio, and the sample data's folder when it lies beside the repository."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


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
