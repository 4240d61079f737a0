-- Payments to addresses off the allow-list are judged by every version of the waiting time before, not by one of them alone: a list of
-- {"version", "until"}, where a version of null rejects them all.
ALTER TABLE policies ADD COLUMN guards jsonb NOT NULL DEFAULT '[]';
UPDATE policies SET guards = jsonb_build_array(jsonb_build_object('version', guard_version, 'until', guard_until))
WHERE guard_version IS NOT NULL AND guard_until IS NOT NULL;
ALTER TABLE policies DROP COLUMN guard_version, DROP COLUMN guard_until;

-- The operator can replace a policy too, and is not a client.
ALTER TABLE policies ALTER COLUMN client_id DROP NOT NULL;
