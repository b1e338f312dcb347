"""PTX itself: its text, its operands, and what is known of each instruction."""
