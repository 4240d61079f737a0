-- The public keys that a client had before, and those that have an end: who has one of them does not approve what the client has requested
-- with it. The MAC of the row covers a list that is not null, so rows from before keep their MAC.
ALTER TABLE clients
  ADD COLUMN former_keys jsonb,
  ADD CONSTRAINT clients_former_keys CHECK (jsonb_typeof(former_keys) = 'array');
