"""The live simulation, and what an artist moves by hand meanwhile."""
