-- Which person an account of an OpenID provider, or an address, belongs or has belonged to. An address has no issuer, and is in lower case. The role
-- of the service can only append: a person whose row is hidden for the length of one login is not created a second time.
CREATE TABLE person_records (
  tenant_id uuid NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  person_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, issuer, subject, person_id)
);

CREATE INDEX person_records_by_person ON person_records (tenant_id, person_id);

INSERT INTO person_records (tenant_id, issuer, subject, person_id)
SELECT tenant_id, '', lower(email COLLATE "C"), id FROM clients WHERE email IS NOT NULL
UNION
SELECT tenant_id, oidc_issuer, oidc_subject, id FROM clients WHERE oidc_subject IS NOT NULL
UNION
SELECT c.tenant_id, f.issuer, f.subject, c.id
FROM clients c, jsonb_to_recordset(c.former_accounts) AS f (issuer text, subject text)
WHERE c.former_accounts IS NOT NULL AND f.issuer IS NOT NULL AND f.subject IS NOT NULL;
