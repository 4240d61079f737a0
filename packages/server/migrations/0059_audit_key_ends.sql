-- Up to which entry of an audit log a master key counts that was replaced. `bursar keys reseal` appends a record for each log and key, and the
-- role of the service cannot change or remove one. The MAC is of a key that is still listed; each reseal records the ends of before again.
CREATE TABLE audit_key_ends (
  tenant_id uuid NOT NULL,
  ended_key_id text NOT NULL,
  number bigint NOT NULL CHECK (number >= 1),
  key_id text NOT NULL,
  mac bytea NOT NULL,
  -- With the MAC, so that a row which somebody else has inserted is not in the way.
  PRIMARY KEY (tenant_id, ended_key_id, key_id, number, mac)
);
