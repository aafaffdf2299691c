"""Other programs that step the same block. They have their own environment, `.venv-bench`."""
