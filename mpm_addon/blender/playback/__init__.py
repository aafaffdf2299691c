"""Displays the frames of caches: particles, and keyframes of rigid bodies."""
