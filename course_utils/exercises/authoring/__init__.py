"""What an author writes, and what is made of it: specs, pages, starters, chapter tables."""
