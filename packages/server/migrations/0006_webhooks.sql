-- Webhooks: who is told, what is still to be told, and what became of it. A delivery is a row of `pending_deliveries`, written
-- with the event that causes it, until it has arrived or was given up; then it is a row of `finished_deliveries`, written once.
-- Neither holds a body: that is made from the event and its subject, the same at every attempt.

-- What the log can tell of grows. Rows that are there are of the kinds that were allowed before, so they need not be read again.
ALTER TABLE events DROP CONSTRAINT events_event_check;
ALTER TABLE events ADD CONSTRAINT events_event_check
  CHECK (event IN ('transaction.updated', 'wallet.updated', 'order.updated', 'endpoint.disabled')) NOT VALID;

CREATE TABLE webhook_endpoints (
  tenant_id        uuid NOT NULL,
  id               uuid NOT NULL,
  url              text NOT NULL CHECK (length(url) <= 2048),
  -- The kinds of events that it is told of; `*` is all.
  events           text[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 16),
  description      text CHECK (length(description) <= 256),
  -- A deleted one stays for the deliveries that name it and for its idempotency key, without its secrets.
  state            text NOT NULL CHECK (state IN ('enabled', 'disabled', 'deleted')),
  disabled_reason  text CHECK (disabled_reason IN ('requested', 'gone', 'failing')),
  disabled_at      timestamptz,
  -- Since when nothing has arrived there; null where the last attempt has.
  failing_since    timestamptz,
  -- Sealed with the master key. Both sign until the old one's time is over.
  secret           bytea NOT NULL,
  old_secret       bytea,
  old_secret_until timestamptz,
  version          integer NOT NULL,
  idempotency_key  text,
  request_hash     bytea,
  created_at       timestamptz NOT NULL,
  updated_at       timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, idempotency_key)
);

-- Serves the writing of events, which asks whom to tell, and the senders, which ask where something is due.
CREATE INDEX webhook_endpoints_enabled ON webhook_endpoints (tenant_id, id) WHERE state = 'enabled';

-- Which process sends to an endpoint. One at a time, so that order and concurrency hold over all processes, and a delivery needs
-- no claim of its own. A new holder has the next fence; what the one before still reports is not taken.
CREATE TABLE webhook_leases (
  tenant_id   uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  holder      uuid,
  fence       bigint NOT NULL,
  expires_at  timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, endpoint_id)
) WITH (fillfactor = 50);

CREATE TABLE pending_deliveries (
  tenant_id   uuid NOT NULL,
  id          uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  sequence    bigint NOT NULL,
  -- The event's kind, which lists are filtered by.
  event       text NOT NULL,
  -- The delivery that this one sends again.
  repeats     uuid,
  -- `-infinity` until the first attempt has failed: first attempts stand first, in the order of the log.
  due_at      timestamptz NOT NULL,
  attempts    jsonb NOT NULL DEFAULT '[]',
  PRIMARY KEY (tenant_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- An endpoint's queue.
CREATE INDEX pending_deliveries_queue ON pending_deliveries (tenant_id, endpoint_id, due_at, sequence);

-- Serves the search for what an event became, newest first.
CREATE INDEX pending_deliveries_by_sequence ON pending_deliveries (tenant_id, sequence, id DESC);

-- Serve the filters of the list. Nearly all deliveries are of transactions, so a list of these reads the primary key, and only the others need an index.
CREATE INDEX pending_deliveries_by_endpoint ON pending_deliveries (tenant_id, endpoint_id, id DESC);
CREATE INDEX pending_deliveries_other_events ON pending_deliveries (tenant_id, event, id DESC) WHERE event <> 'transaction.updated';

CREATE TABLE finished_deliveries (
  tenant_id   uuid NOT NULL,
  id          uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  sequence    bigint NOT NULL,
  -- The event's kind, which lists are filtered by.
  event       text NOT NULL,
  repeats     uuid,
  state       text NOT NULL CHECK (state IN ('delivered', 'exhausted')),
  -- Whether it was sent again, so that sending the failed ones again is not done twice.
  resent      boolean NOT NULL DEFAULT false,
  finished_at timestamptz NOT NULL,
  attempts    jsonb NOT NULL,
  PRIMARY KEY (tenant_id, id)
);

-- Serve the filters of the list, newest first, and the search for what an event became.
CREATE INDEX finished_deliveries_by_endpoint ON finished_deliveries (tenant_id, endpoint_id, id DESC);
CREATE INDEX finished_deliveries_by_sequence ON finished_deliveries (tenant_id, sequence);
CREATE INDEX finished_deliveries_other_events ON finished_deliveries (tenant_id, event, id DESC) WHERE event <> 'transaction.updated';
CREATE INDEX finished_deliveries_failed ON finished_deliveries (tenant_id, id DESC) WHERE state = 'exhausted';
CREATE INDEX finished_deliveries_failed_by_endpoint ON finished_deliveries (tenant_id, endpoint_id, id DESC) WHERE state = 'exhausted';

-- What was answered to a request to send again that had an idempotency key.
CREATE TABLE webhook_resends (
  tenant_id       uuid NOT NULL,
  action          text NOT NULL,
  idempotency_key text NOT NULL,
  request_hash    bytea NOT NULL,
  answer          jsonb NOT NULL,
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, action, idempotency_key)
);
