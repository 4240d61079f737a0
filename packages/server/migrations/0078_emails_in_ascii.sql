-- Addresses of people differ in more than the case of ASCII letters: lower() of most locales makes a `k` of the Kelvin sign.
DROP INDEX people_by_email;
CREATE UNIQUE INDEX people_by_email ON clients (tenant_id, lower(email COLLATE "C")) WHERE email IS NOT NULL;
