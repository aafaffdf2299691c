"""Colliders, walls and rigid bodies: contact with the material and with each other."""
