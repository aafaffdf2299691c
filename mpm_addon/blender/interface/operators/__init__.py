"""The operators. Each calls one function."""
