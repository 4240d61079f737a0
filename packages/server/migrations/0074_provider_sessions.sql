-- A session that was opened with an OpenID provider has no passkey.
ALTER TABLE sessions ALTER COLUMN credential_id DROP NOT NULL;
