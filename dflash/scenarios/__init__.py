"""Scenarios of the trainer for the harness; they need torch alone."""
