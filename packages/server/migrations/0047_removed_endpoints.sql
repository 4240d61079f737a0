-- Deleted endpoints are removed once nothing refers to them. The key of the request that created one outlives it, in the table that has the
-- keys of the other requests about endpoints.
INSERT INTO webhook_resends (tenant_id, action, idempotency_key, request_hash, answer, created_at)
  SELECT tenant_id, 'webhook_endpoint.create', idempotency_key, request_hash,
    jsonb_build_object('id', id, 'client_id', client_id, 'created_by', created_by, 'created_at', created_at), created_at
  FROM webhook_endpoints WHERE idempotency_key IS NOT NULL;
ALTER TABLE webhook_endpoints DROP COLUMN idempotency_key, DROP COLUMN request_hash;

-- Serves the list of a tenant's endpoints and the bound on their number, however many were deleted.
CREATE INDEX webhook_endpoints_live ON webhook_endpoints (tenant_id, id) WHERE state <> 'deleted';
