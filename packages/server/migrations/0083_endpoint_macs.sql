-- Endpoints from before have no MAC, and nothing is sent to them: delete them and create them again. Nothing has been released.
ALTER TABLE webhook_endpoints ADD COLUMN key_id text, ADD COLUMN mac bytea;
