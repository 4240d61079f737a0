-- Policy with sums applies to orders as it does to transactions: the market's owner judges what could not be judged on the spot, when
-- it holds the funds.

ALTER TABLE open_orders
  -- Whether the owner of the market is to judge it: the policy looks at sums.
  ADD COLUMN needs_judgement boolean NOT NULL DEFAULT false;

-- How the owner has judged, for the orders that it was to judge.
CREATE TABLE order_judgements (
  tenant_id      uuid NOT NULL,
  order_id       uuid NOT NULL,
  policy_version integer NOT NULL,
  rule           text NOT NULL,
  reason         text,
  judged_at      timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, order_id)
);
