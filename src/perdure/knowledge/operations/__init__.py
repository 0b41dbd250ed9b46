"""Operations on facts and entities."""
