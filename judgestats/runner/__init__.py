"""One experiment from its declared design to its report: the driver of the house."""
