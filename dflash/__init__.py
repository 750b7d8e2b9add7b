"""The DFlash drafter trainer."""
