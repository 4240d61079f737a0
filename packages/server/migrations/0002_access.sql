-- Who may do what. A tenant owns everything; clients act for it. Tenants, clients and their credentials are few and are read
-- before the tenant is known, so in a sharded database they are copied to every node (Citus: reference tables).

CREATE TABLE tenants (
  id         uuid PRIMARY KEY,
  name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
  created_at timestamptz NOT NULL
);

CREATE TABLE clients (
  id                uuid PRIMARY KEY,
  tenant_id         uuid NOT NULL REFERENCES tenants,
  name              text NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
  scopes            text[] NOT NULL,
  state             text NOT NULL CHECK (state IN ('active', 'disabled')),
  require_signature boolean NOT NULL,
  -- The key under which its creation was asked for, so that a repeated request finds it; and what was asked.
  idempotency_key   text,
  request_hash      bytea,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  UNIQUE (tenant_id, idempotency_key)
);

-- Serves the list of a tenant's clients, newest first.
CREATE INDEX clients_by_tenant ON clients (tenant_id, id DESC);

-- Secrets have 256 random bits, so a plain hash is enough: there is no dictionary to try.
CREATE TABLE client_secrets (
  id         uuid PRIMARY KEY,
  client_id  uuid NOT NULL REFERENCES clients,
  hash       bytea NOT NULL CHECK (length(hash) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz
);

CREATE INDEX client_secrets_by_client ON client_secrets (client_id);

-- Keys that sign requests and assertions. `material` is a raw Ed25519 public key, or an HMAC secret sealed by the master key.
CREATE TABLE client_keys (
  id         uuid PRIMARY KEY,
  client_id  uuid NOT NULL REFERENCES clients,
  algorithm  text NOT NULL CHECK (algorithm IN ('ed25519', 'hmac-sha256')),
  material   bytea NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE INDEX client_keys_by_client ON client_keys (client_id);

-- Keys that sign access tokens, sealed by the master key. A key is published when it is written and signs from active_from on.
CREATE TABLE token_keys (
  id          uuid PRIMARY KEY,
  public_key  bytea NOT NULL CHECK (length(public_key) = 32),
  private_key bytea NOT NULL,
  active_from timestamptz NOT NULL
);

CREATE TABLE revoked_tokens (
  tenant_id  uuid NOT NULL,
  client_id  uuid NOT NULL,
  token_id   uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, client_id, token_id)
);

-- Nonces of signed requests and ids of client assertions, until they could no longer be used anyway.
CREATE TABLE used_nonces (
  tenant_id  uuid NOT NULL,
  client_id  uuid NOT NULL,
  nonce      text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, client_id, nonce)
);

-- Serve the removal of what has expired.
CREATE INDEX revoked_tokens_by_expiry ON revoked_tokens (expires_at);
CREATE INDEX used_nonces_by_expiry ON used_nonces (expires_at);
CREATE INDEX client_secrets_by_expiry ON client_secrets (expires_at) WHERE expires_at IS NOT NULL;
