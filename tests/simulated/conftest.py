"""What the tests of the simulated server share with those of collection."""

from tests.collection.conftest import _no_keys_of_the_developer, plan, server

__all__ = ["_no_keys_of_the_developer", "plan", "server"]
