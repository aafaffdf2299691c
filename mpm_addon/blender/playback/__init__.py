"""Frames of caches on the screen: particles, and the keyframes of rigid bodies."""
