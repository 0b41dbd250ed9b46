"""The PostgreSQL store: one database, many processes and machines, rows and words and vectors in one transaction."""
