"""The simulation: frames, steps, their lengths, and what acts on matter from outside."""
