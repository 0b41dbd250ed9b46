"""What becomes of claims: facts and their states, questions, sheets, rates, procedures, authorities."""
