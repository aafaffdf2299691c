"""Arithmetic for laws and transfers: the same source for plain numbers and for vectors of particles."""
