"""Other programs that step the same block. They live in an environment of their own, `.venv-bench`."""
