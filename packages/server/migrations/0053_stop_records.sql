-- That a wallet is frozen, a client disabled or a tenant suspended is also recorded here, and so is its end. The service only appends, and its
-- role cannot do more; the last record of a subject counts. A record that ends a stop has a MAC, one that begins it needs none.
CREATE TABLE stop_records (
  tenant_id uuid NOT NULL,
  subject_id uuid NOT NULL,
  number bigint NOT NULL CHECK (number >= 1),
  stopped boolean NOT NULL,
  recorded_at timestamptz NOT NULL,
  key_id text,
  mac bytea,
  PRIMARY KEY (tenant_id, subject_id, number)
);

INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
SELECT tenant_id, id, 1, true, now() FROM wallets WHERE frozen
UNION ALL SELECT tenant_id, id, 1, true, now() FROM clients WHERE state = 'disabled'
UNION ALL SELECT id, id, 1, true, now() FROM tenants WHERE suspended_at IS NOT NULL;
