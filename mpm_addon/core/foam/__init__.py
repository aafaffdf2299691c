"""Foam: particles of spray, foam and bubbles that follow a simulated liquid and never affect it."""
