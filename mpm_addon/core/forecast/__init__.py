"""The cost of a scene, predicted from its description alone. Plain numpy."""
