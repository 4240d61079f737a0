-- A webhook endpoint is `pending` until it has answered a signed challenge, and again after its URL has changed. It receives only the kinds
-- of events that the client it acts for may read.

ALTER TABLE webhook_endpoints DROP CONSTRAINT webhook_endpoints_state_check;
ALTER TABLE webhook_endpoints
  ADD CONSTRAINT webhook_endpoints_state_check CHECK (state IN ('pending', 'enabled', 'disabled', 'deleted')),
  -- When the receiver at the current URL answered a challenge; NULL if it has not.
  ADD COLUMN verified_at timestamptz,
  -- The client that created the endpoint or last changed its URL or events; NULL for the operator, who may read everything.
  ADD COLUMN client_id uuid,
  -- The scopes of that request. A token can have fewer scopes than its client.
  ADD COLUMN scopes text[];

-- Endpoints that were in use before there were challenges stay in use, as those of the operator.
UPDATE webhook_endpoints SET verified_at = created_at;
