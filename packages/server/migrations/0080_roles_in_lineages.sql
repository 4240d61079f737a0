-- Who has written a role has a part in what the people who have it can do. Null for a built-in role, and for one that the operator wrote.
ALTER TABLE clients ADD COLUMN role_created_by uuid;

-- A role that was deleted is not put back: the number of its deletion, in the records of stops, is the number that it was created with.
ALTER TABLE roles ADD COLUMN generation bigint NOT NULL DEFAULT 1;
