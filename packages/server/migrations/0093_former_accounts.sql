-- The accounts of an OpenID provider that a person had before: a login with one of them is never another person.
ALTER TABLE clients
  ADD COLUMN former_accounts jsonb,
  ADD CONSTRAINT clients_former_accounts CHECK (jsonb_typeof(former_accounts) = 'array');

CREATE INDEX people_by_former_account ON clients USING gin (former_accounts jsonb_path_ops)
  WHERE former_accounts IS NOT NULL;
