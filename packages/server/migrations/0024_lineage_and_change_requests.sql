-- Who controls a client. A client that created another one, gave it a credential or changed its scopes can act as it, or could.
-- Approvals count only between clients that have no such history in common.

ALTER TABLE tenants
  -- Set by the operator: one administrator manages every client, so clients are neither protected nor compared by their history.
  ADD COLUMN single_administrator boolean NOT NULL DEFAULT false;

ALTER TABLE clients
  -- Null if the operator created it.
  ADD COLUMN created_by uuid,
  -- The last change of its credentials, scopes, state or require_signature; null if the operator made it.
  ADD COLUMN authority_changed_by uuid,
  ADD COLUMN authority_changed_at timestamptz,
  -- Clients that created it, added a credential or changed its authority without another client's approval. It only grows, because a
  -- client that controlled it once could have given it a credential in its own name; only the operator can reset it.
  ADD COLUMN controllers uuid[] NOT NULL DEFAULT '{}',
  -- When the operator reset the credentials and the controllers.
  ADD COLUMN reset_at timestamptz;

-- The client that added the credential; null if the operator did.
ALTER TABLE client_secrets ADD COLUMN added_by uuid;
ALTER TABLE client_keys ADD COLUMN added_by uuid;

-- The history of existing clients is in the audit log, under their public ids.
CREATE FUNCTION pg_temp.uuid_of_client(id text) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN id ~ '^cli_[0-7][0-9a-hjkmnp-tv-z]{25}$'
    THEN string_agg(to_hex(substring(bits FROM 4 * n - 1 FOR 4)::bit(4)::integer), '' ORDER BY n)::uuid END
  FROM generate_series(1, 32) AS n, (
    SELECT string_agg((position(substring(id FROM 4 + place FOR 1) IN '0123456789abcdefghjkmnpqrstvwxyz') - 1)::bit(5)::text, ''
      ORDER BY place) AS bits
    FROM generate_series(1, 26) AS place) AS encoded
$$;

UPDATE clients SET authority_changed_at = updated_at;
ALTER TABLE clients ALTER COLUMN authority_changed_at SET NOT NULL;

UPDATE clients SET created_by = history.creator, controllers = history.controllers
FROM (
  SELECT pg_temp.uuid_of_client(object) AS client_id,
    (array_agg(client_id) FILTER (WHERE action = 'client.create'))[1] AS creator,
    array_agg(DISTINCT client_id) AS controllers
  FROM audit_entries
  WHERE actor = 'client' AND outcome = 'succeeded'
    AND action IN ('client.create', 'client.change', 'secret.rotate', 'key.add')
    AND client_id <> pg_temp.uuid_of_client(object)
  GROUP BY object
) AS history
WHERE clients.id = history.client_id;

DROP FUNCTION pg_temp.uuid_of_client(text);

-- Changes that one client requests and others approve.
CREATE TABLE change_requests (
  tenant_id       uuid NOT NULL,
  id              uuid NOT NULL,
  kind            text NOT NULL,
  -- The public id of what would be changed, and the change as it was requested.
  target          text NOT NULL,
  change          jsonb NOT NULL,
  comment         text,
  -- The approvals and the delay that it needs, fixed when it was requested.
  requirement     jsonb NOT NULL,
  state           text NOT NULL
    CHECK (state IN ('pending', 'scheduled', 'applied', 'rejected', 'expired', 'cancelled', 'failed')),
  version         integer NOT NULL,
  requested_by    uuid NOT NULL,
  failure_code    text,
  idempotency_key text,
  request_hash    bytea,
  created_at      timestamptz NOT NULL,
  expires_at      timestamptz NOT NULL,
  -- When an approved change takes effect, and when it did.
  effective_at    timestamptz,
  updated_at      timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, idempotency_key)
);

-- Serves the look for those that expire or take effect.
CREATE INDEX change_requests_due ON change_requests ((coalesce(effective_at, expires_at))) WHERE state IN ('pending', 'scheduled');
-- Serves the bound on open requests.
CREATE INDEX change_requests_open ON change_requests (tenant_id) WHERE state IN ('pending', 'scheduled');

-- The decisions on them, each with the version of the request that it made.
CREATE TABLE change_decisions (
  tenant_id         uuid NOT NULL,
  change_request_id uuid NOT NULL,
  version           integer NOT NULL,
  client_id         uuid NOT NULL,
  decision          text NOT NULL CHECK (decision IN ('approve', 'reject')),
  comment           text,
  decided_at        timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, change_request_id, version)
);

ALTER TABLE events DROP CONSTRAINT events_event_check;
ALTER TABLE events ADD CONSTRAINT events_event_check CHECK (event IN
  ('transaction.updated', 'wallet.updated', 'order.updated', 'endpoint.disabled', 'change_request.updated')) NOT VALID;
