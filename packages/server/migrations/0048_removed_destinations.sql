-- Whether an address was removed from the allow-list while a payment to it waited for approvals.
CREATE INDEX destinations_removed ON destinations (tenant_id, network, address, removed_at) WHERE removed_at IS NOT NULL;
