-- What has been applied to this database, so that every process that starts can tell what is missing.
CREATE TABLE schema_migrations (
  number     integer PRIMARY KEY,
  name       text NOT NULL,
  checksum   text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
