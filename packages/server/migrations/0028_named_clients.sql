-- The clients that a replaced version of a policy named. They stay protected, because one client could otherwise remove a name, change
-- the credentials, and put the name back.
CREATE TABLE named_clients (
  client_id uuid PRIMARY KEY,
  -- The first version whose replacement recorded the client.
  policy_version integer NOT NULL CHECK (policy_version > 0)
);
