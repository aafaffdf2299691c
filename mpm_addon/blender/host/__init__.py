"""What the extension needs from Blender itself: objects, versions, operators, texts and redraws."""
