-- Authenticates how far an open order is: its place, state, version, size, fills and hold. An open order without it is not in a book: orders that
-- are open during this migration have to be placed again.
ALTER TABLE open_orders ADD COLUMN key_id text, ADD COLUMN mac bytea;
-- Authenticates a command of a market's log until the book has executed it.
ALTER TABLE market_commands ADD COLUMN key_id text, ADD COLUMN mac bytea;
-- Why a market is halted, and since when. It is matched again when an operator resumes it.
ALTER TABLE markets ADD COLUMN halted_reason text, ADD COLUMN halted_at timestamptz;
