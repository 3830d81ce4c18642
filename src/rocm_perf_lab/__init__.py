"""GPU performance engineering for AMD: from a trace to a verdict."""

__version__ = "0.2.0"
