"""Devices that a person drives: prompts, recipes, and what can be verified of them."""
