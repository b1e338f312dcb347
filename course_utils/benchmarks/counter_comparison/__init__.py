"""The emulator's counters beside Nsight Compute's, launch by launch."""
