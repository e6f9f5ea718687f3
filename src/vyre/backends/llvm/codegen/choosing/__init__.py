"""What a stretch of work consists of, and how many lanes run it together."""
