-- Who did what. Each tenant has one chain: a row's hash covers its content and the hash of the row before it, and the head
-- says where the chain ends, so that a changed or removed row is found. Attempts by nobody in particular are in the chain of
-- the nil tenant.

CREATE TABLE audit_heads (
  tenant_id uuid PRIMARY KEY,
  number    bigint NOT NULL,
  hash      bytea NOT NULL
);

CREATE TABLE audit_entries (
  tenant_id   uuid NOT NULL,
  number      bigint NOT NULL,
  occurred_at timestamptz NOT NULL,
  actor       text NOT NULL CHECK (actor IN ('client', 'operator', 'anonymous')),
  client_id   uuid,
  token_id    uuid,
  action      text NOT NULL,
  object      text,
  outcome     text NOT NULL CHECK (outcome IN ('succeeded', 'refused')),
  code        text,
  -- How many equal refusals this row stands for: a flood is one row, not a full disk.
  repeated    integer NOT NULL CHECK (repeated >= 1),
  request_id  text,
  address     text,
  hash        bytea NOT NULL,
  PRIMARY KEY (tenant_id, number)
);

-- The log only grows. Whoever may change the schema can still lift this; the chain shows what they did.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only';
END
$$;

CREATE TRIGGER audit_entries_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER audit_heads_stay
  BEFORE DELETE OR TRUNCATE ON audit_heads
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
