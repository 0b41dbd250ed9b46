"""What a later message says otherwise than an earlier one, and the order of hits that follows."""
