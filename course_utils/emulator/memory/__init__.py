"""The generic address space: arrays, tensor maps, textures and bytes never written."""
