-- Since when no node has answered with a block that can be followed; null while one does.
ALTER TABLE networks ADD COLUMN unreachable_since timestamptz;
