"""What comes with the course below ``assets/data``: data sheets of GPUs, and digits."""
