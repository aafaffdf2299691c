"""Colliders, walls and rigid bodies: contact with material and with one another."""
