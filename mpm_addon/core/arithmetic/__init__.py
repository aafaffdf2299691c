"""Arithmetic for laws and transfers: the same source works on plain numbers and on vectors of particles."""
