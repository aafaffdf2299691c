"""Fracture of rigid objects at an impact (Chen 2013): tetrahedra, stress, cracks and fragments of one body. Plain numpy; no simulation."""
