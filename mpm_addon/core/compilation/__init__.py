"""Compiling functions to machine code, storing that code, and the threads that run it."""
