-- A MAC covers the price band of a market: a writer to the database cannot move it. A band from before has none, and begins again at the configured
-- reference price. Nothing has been released.
ALTER TABLE markets ADD COLUMN band_key_id text, ADD COLUMN band_mac bytea;
UPDATE markets SET band = NULL WHERE band IS NOT NULL;
