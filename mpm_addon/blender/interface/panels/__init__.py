"""The panels. Drawing reads and never writes."""
