"""What a scene will cost, told from its description alone. Plain numpy."""
