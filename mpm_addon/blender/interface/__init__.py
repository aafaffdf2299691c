"""Panels, operators and preferences. Drawing reads and never writes."""
