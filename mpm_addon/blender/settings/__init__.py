"""What Blender stores for the extension: properties, made from the parameters that the core declares."""
