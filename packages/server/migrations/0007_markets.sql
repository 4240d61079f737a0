-- Markets, orders and trades. A market is shared by all tenants; an order belongs to one, and its life is in three tables as a
-- transaction's is:
--   orders       what was asked: written once, never changed
--   open_orders  what is still open, as it is now: gone when the order is final
--   events       what has happened to it: its state is that of its last event, or `pending` before the first
-- Prices are whole ticks and sizes whole lots of the market, amounts of money are base units.

CREATE TABLE orders (
  tenant_id       uuid NOT NULL,
  id              uuid NOT NULL,
  idempotency_key text NOT NULL,
  request_hash    bytea NOT NULL,
  client_id       uuid NOT NULL,
  market          text NOT NULL,
  wallet_id       uuid NOT NULL,
  reference       text,
  side            text NOT NULL CHECK (side IN ('buy', 'sell')),
  type            text NOT NULL CHECK (type IN ('limit', 'market')),
  time_in_force   text CHECK (time_in_force IN ('gtc', 'ioc', 'fok', 'post_only')),
  self_trade      text NOT NULL CHECK (self_trade IN ('cancel_newest', 'cancel_oldest', 'cancel_both')),
  price           bigint CHECK (price > 0),
  size            bigint CHECK (size > 0),
  quote_size      numeric(78, 0) CHECK (quote_size > 0),
  policy_version  integer NOT NULL,
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, idempotency_key),
  CHECK ((type = 'limit') = (price IS NOT NULL) AND (type = 'limit') = (time_in_force IS NOT NULL))
);

-- Serves the filter by market, newest first.
CREATE INDEX orders_by_market ON orders (tenant_id, market, id DESC);

CREATE TABLE open_orders (
  tenant_id        uuid NOT NULL,
  id               uuid NOT NULL,
  market           text NOT NULL,
  wallet_id        uuid NOT NULL,
  side             text NOT NULL,
  price            bigint,
  state            text NOT NULL,
  version          integer NOT NULL,
  -- Its place in the market's sequence of commands, which is its priority too; null until its funds are held.
  sequence         bigint,
  -- The whole size, with what is filled; null where a market order is to spend an amount, whatever that buys.
  size             bigint,
  filled           bigint NOT NULL DEFAULT 0,
  quote_filled     numeric(78, 0) NOT NULL DEFAULT 0,
  -- Taken from what it receives: base for a buyer, quote for a seller.
  fee              numeric(78, 0) NOT NULL DEFAULT 0,
  -- What is still set aside for it: quote for a buyer, base for a seller.
  held             numeric(78, 0) NOT NULL DEFAULT 0 CHECK (held >= 0),
  -- What its client asks for, until the market's owner has taken it down as a command.
  cancel_requested boolean NOT NULL DEFAULT false,
  amend_size       bigint,
  PRIMARY KEY (tenant_id, id)
);

-- Serves the owner's claim of what is new.
CREATE INDEX open_orders_to_do ON open_orders (market, id)
  WHERE sequence IS NULL OR cancel_requested OR amend_size IS NOT NULL;
-- Serves making the book anew, and its levels.
CREATE INDEX open_orders_resting ON open_orders (market, sequence) WHERE state IN ('open', 'partially_filled');

-- What an event has changed, where the state does not say it all: how far an order is filled.
ALTER TABLE events ADD COLUMN details jsonb;
ALTER TABLE events DROP CONSTRAINT events_event_check;
ALTER TABLE events ADD CONSTRAINT events_event_check
  CHECK (event IN ('transaction.updated', 'wallet.updated', 'order.updated', 'endpoint.disabled')) NOT VALID;

-- Serves the filter by a final state: an order reaches one only once.
CREATE INDEX events_by_final_order_state ON events (tenant_id, state, subject_id DESC)
  WHERE event = 'order.updated' AND state IN ('filled', 'cancelled', 'rejected');

-- One row a market: its steps, who owns it, and how far it is. An owner that is late has an old fence and can write nothing.
CREATE TABLE markets (
  market            text PRIMARY KEY,
  base              text NOT NULL,
  quote             text NOT NULL,
  tick_size         text NOT NULL,
  lot_size          text NOT NULL,
  -- A lot in base units of the base asset, and what a lot costs at a price of one tick in those of the quote asset.
  lot_units         numeric(78, 0) NOT NULL,
  tick_lot_units    numeric(78, 0) NOT NULL,
  holder            uuid,
  fence             bigint NOT NULL DEFAULT 0,
  expires_at        timestamptz NOT NULL DEFAULT '-infinity',
  -- The last command that was taken down, and the last that the book has carried out.
  admitted_sequence bigint NOT NULL DEFAULT 0,
  applied_sequence  bigint NOT NULL DEFAULT 0,
  -- The last command that has changed a level, when that was, and the last trade.
  level_sequence    bigint NOT NULL DEFAULT 0,
  levels_changed_at timestamptz NOT NULL DEFAULT now(),
  trade_sequence    bigint NOT NULL DEFAULT 0
);

-- What a book was told, in order. The same commands make the same book and the same trades.
CREATE TABLE market_commands (
  market    text NOT NULL,
  sequence  bigint NOT NULL,
  tenant_id uuid NOT NULL,
  order_id  uuid NOT NULL,
  kind      text NOT NULL CHECK (kind IN ('place', 'cancel', 'amend')),
  size      bigint,
  PRIMARY KEY (market, sequence)
);

CREATE TABLE trades (
  market          text NOT NULL,
  sequence        bigint NOT NULL,
  -- Stands in the ledger's entries where a transaction's id would.
  id              uuid NOT NULL,
  price           bigint NOT NULL CHECK (price > 0),
  size            bigint NOT NULL CHECK (size > 0),
  taker_side      text NOT NULL CHECK (taker_side IN ('buy', 'sell')),
  maker_tenant_id uuid NOT NULL,
  maker_order_id  uuid NOT NULL,
  maker_fee       numeric(78, 0) NOT NULL CHECK (maker_fee >= 0),
  taker_tenant_id uuid NOT NULL,
  taker_order_id  uuid NOT NULL,
  taker_fee       numeric(78, 0) NOT NULL CHECK (taker_fee >= 0),
  occurred_at     timestamptz NOT NULL,
  PRIMARY KEY (market, sequence)
);

-- How the levels of a book have changed, for those who keep a copy; kept for a while.
CREATE TABLE market_deltas (
  market            text NOT NULL,
  sequence          bigint NOT NULL,
  previous_sequence bigint NOT NULL,
  -- [side, price, size, orders] for each level; a size of 0 is a level that is gone.
  changes           jsonb NOT NULL,
  occurred_at       timestamptz NOT NULL,
  PRIMARY KEY (market, sequence)
);

-- Serves the removal of old ones.
CREATE INDEX market_deltas_by_age ON market_deltas (occurred_at);

-- The house, a tenant like any other, whose wallet the markets' fees are paid to.
INSERT INTO tenants (id, name, created_at) VALUES ('00000000-0000-8000-8000-0000000000a0', 'house', now());
INSERT INTO wallets (tenant_id, id, name, purpose, network, role, state, version, created_at, updated_at)
SELECT '00000000-0000-8000-8000-0000000000a0', id::uuid, name, purpose, 'book', role, 'active', 1, now(), now() FROM (VALUES
  ('00000000-0000-8000-8000-0000000000a1', 'primary', 'treasury', 'primary'),
  ('00000000-0000-8000-8000-0000000000a2', 'settlement', 'settlement', 'settlement'),
  ('00000000-0000-8000-8000-0000000000a3', 'fees', 'fees', NULL)) AS born (id, name, purpose, role);
