-- When a client was last disabled. Tokens from before that stay ended when it is enabled again.
ALTER TABLE clients ADD COLUMN disabled_at timestamptz;
