import pytest

from .http_server import certificate


@pytest.fixture(scope="session")
def authority():
    """A certificate that signs others, and its key."""
    return certificate("authority", ca=True)
