"""What tests that another interpreter runs get in place of `conftest.py`, whose packages cannot be lent."""

import pytest


@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"
