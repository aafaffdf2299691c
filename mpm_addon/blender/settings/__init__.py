"""What Blender stores of the extension: properties, made from the parameters that the core declares."""
