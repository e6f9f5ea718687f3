"""Regular expressions against other engines: random patterns, near misses, rule files."""
