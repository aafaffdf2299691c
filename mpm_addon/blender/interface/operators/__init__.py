"""The operators. Each hands over to one function."""
