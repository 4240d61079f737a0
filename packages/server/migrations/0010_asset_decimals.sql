-- How many decimals an asset had when it was first configured. Amounts are stored in its smallest unit, so that other decimals would
-- be other amounts; a start with others is refused.
CREATE TABLE asset_decimals (
  asset    text PRIMARY KEY,
  decimals integer NOT NULL CHECK (decimals BETWEEN 0 AND 18)
);
