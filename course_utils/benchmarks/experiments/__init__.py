"""Studies of the machine, and of measurements that mislead: each for one notebook."""
