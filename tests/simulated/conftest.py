"""What the tests of the simulated server share."""

from tests.collection.conftest import server

__all__ = ["server"]
