"""What is known of indices: how they move from lane to lane, how far they reach, what they mean."""
