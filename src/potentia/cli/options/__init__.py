"""What the options of the commands mean."""
