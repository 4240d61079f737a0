-- Price bands: new orders are bounded by a range around what tenants have traded at, and market orders by a price limit.

ALTER TABLE markets
  -- The price band after the last executed command: the reference price that it started from, and the tenants that traded last, each
  -- with the price of its last trade. Null before the first trade; then the band is around the configured reference price.
  ADD COLUMN band jsonb;

-- The centre of the band after this change; null in changes that an earlier version has written.
ALTER TABLE market_deltas ADD COLUMN centre bigint;

-- Of the command that places a market order: it trades no further than this price.
ALTER TABLE market_commands ADD COLUMN price_limit bigint CHECK (price_limit > 0);
