"""The live simulation, and the objects that an artist moves during it."""
