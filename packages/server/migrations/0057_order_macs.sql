-- A MAC covers what an order may buy or sell, at which price, and from which wallet. An order without one is not put into a book: orders that are
-- open during this migration have to be placed again.
ALTER TABLE orders ADD COLUMN key_id text, ADD COLUMN mac bytea;
