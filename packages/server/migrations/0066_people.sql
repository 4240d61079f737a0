-- A person is a client with an email address and a role. Programs have neither, so that their MACs stay valid.
ALTER TABLE clients
  ADD COLUMN email text,
  ADD COLUMN role text,
  ADD CONSTRAINT clients_person CHECK ((email IS NULL) = (role IS NULL));

CREATE INDEX people_by_tenant ON clients (tenant_id, id DESC) WHERE email IS NOT NULL;
CREATE UNIQUE INDEX people_by_email ON clients (tenant_id, lower(email)) WHERE email IS NOT NULL;

-- The roles of a tenant beside the built-in ones. They are never changed.
CREATE TABLE roles (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 40),
  scopes text[] NOT NULL,
  created_by uuid,
  created_at timestamptz NOT NULL,
  key_id text NOT NULL,
  mac bytea NOT NULL,
  PRIMARY KEY (tenant_id, name)
);
