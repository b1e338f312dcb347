"""The emulator for whoever has a kernel and no notebook: a command line, and a plugin of pytest."""
