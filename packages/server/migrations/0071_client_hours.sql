-- The requests of each client by hour. Processes count in memory and add what they have counted every few seconds.
CREATE TABLE client_hours (
  tenant_id uuid NOT NULL,
  client_id uuid NOT NULL,
  start timestamptz NOT NULL,
  requests bigint NOT NULL,
  refused bigint NOT NULL,
  rate_limited bigint NOT NULL,
  failed bigint NOT NULL,
  cost bigint NOT NULL,
  PRIMARY KEY (tenant_id, client_id, start)
);

CREATE INDEX client_hours_by_start ON client_hours (start);
