"""What the extension needs of Blender itself: its objects, versions, operators, texts and redraws."""
