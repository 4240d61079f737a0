-- One row for each time that the signer has shown that the database went back, and nothing had noticed it. With each, no wallet on a chain counts as
-- confirmed any more: the epoch of wallets is the number of the last epoch of the database, plus the last of these. The row of the epoch stays as it
-- is, because processes know the database by it. An earlier version does not count them.
CREATE TABLE wallet_doubts (
  number bigint PRIMARY KEY,
  network text NOT NULL,
  found_at timestamptz NOT NULL DEFAULT now()
);
