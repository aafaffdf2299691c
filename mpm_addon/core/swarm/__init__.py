"""Swarms: particles that follow simulated material and never affect it: spray, foam and bubbles of a liquid, chips and dust of solids."""
