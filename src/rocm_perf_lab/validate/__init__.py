"""The virtual GPU's models against published measurements of hardware."""
