"""Data races, from vector clocks and the order that fences and flags make."""
