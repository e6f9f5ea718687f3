"""Operations on arrays and bytes, on top of the compiler: sort, select, decode and match."""
