"""The words that each command takes, one file a command."""
