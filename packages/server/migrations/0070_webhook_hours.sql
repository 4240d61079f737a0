-- What was sent to an endpoint, by hour. It is counted when the outcomes of attempts are recorded, one row for each endpoint of a batch.
CREATE TABLE webhook_hours (
  tenant_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  start timestamptz NOT NULL,
  attempts bigint NOT NULL,
  delivered bigint NOT NULL,
  exhausted bigint NOT NULL,
  latency_ms bigint NOT NULL,
  latency_ms_max bigint NOT NULL,
  PRIMARY KEY (tenant_id, endpoint_id, start)
);
