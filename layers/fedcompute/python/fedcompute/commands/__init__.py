"""The commands of `fedcompute`, a module each. What a command does not need is not imported, so that help is quick."""
