-- The account that a person has at the OpenID provider. An address can be given to somebody else; a subject cannot.
ALTER TABLE clients
  ADD COLUMN oidc_issuer text,
  ADD COLUMN oidc_subject text,
  ADD CONSTRAINT clients_account CHECK ((oidc_issuer IS NULL) = (oidc_subject IS NULL));

CREATE UNIQUE INDEX people_by_account ON clients (tenant_id, oidc_issuer, oidc_subject) WHERE oidc_subject IS NOT NULL;
