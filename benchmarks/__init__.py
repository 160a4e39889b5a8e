"""How fast the parts are; each file is a command."""
