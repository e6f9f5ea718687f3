"""Accesses to memory: each stays inside its buffer, in as few instructions as its shape allows."""
