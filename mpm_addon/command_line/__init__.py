"""The command line: one module for each command, their arguments (`arguments`), and all that they print (`printing`)."""
