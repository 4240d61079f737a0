-- References are searched by their beginning, which only an index in the order of bytes serves, whatever the database's locale is. It
-- replaces the index for equal references, so that accepting a transaction writes no further entry.
DROP INDEX transactions_by_reference;
CREATE INDEX transactions_by_reference ON transactions (tenant_id, reference COLLATE "C", id);
DROP INDEX orders_by_reference;
CREATE INDEX orders_by_reference ON orders (tenant_id, reference COLLATE "C", id) WHERE reference IS NOT NULL;
-- An address of the allow-list is searched without its network.
CREATE INDEX destinations_by_address ON destinations (tenant_id, address) WHERE removed_at IS NULL;
