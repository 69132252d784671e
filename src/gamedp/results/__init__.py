"""What solving and searching hand back."""
