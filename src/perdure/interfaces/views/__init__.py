"""What is shown of results."""
