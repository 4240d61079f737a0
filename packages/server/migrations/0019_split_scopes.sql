-- Scopes that were one are several: reading the policy, replacing it and managing destinations; creating, freezing and unfreezing
-- wallets. Every client keeps what it could do.

UPDATE clients SET scopes = scopes || '{policies:read,destinations:manage}'::text[]
WHERE 'policies:manage' = ANY (scopes);

UPDATE clients SET scopes = scopes || '{wallets:freeze,wallets:unfreeze}'::text[]
WHERE 'wallets:write' = ANY (scopes);
