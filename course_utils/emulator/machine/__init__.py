"""The PTX machine: from PTX text to lanes that run, with their memory and barriers."""
