"""Package data of accord, read through importlib.resources."""
