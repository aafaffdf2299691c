"""The scenes, caches and stand-ins of bakes are those of storage."""

from tests.storage.conftest import cache, other, scene, stand_in_simulation, whole

__all__ = ["cache", "other", "scene", "stand_in_simulation", "whole"]
