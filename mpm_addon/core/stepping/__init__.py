"""The simulation: frames, substeps and their lengths, and external forces."""
