-- Sums behind rolling limits. Running totals were written for every wallet, client and tenant whether a rule needed them or not, and
-- an amount could only be taken back by changing every total since. Now sums are kept only for the windows that a policy tests, in
-- buckets of at most a sixtieth of the period, so taking back changes one bucket of each window.

-- A window that a policy tests: what it sums over, of which asset ('' counts all), and how far back.
CREATE TABLE usage_windows (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id      uuid NOT NULL,
  per            text NOT NULL CHECK (per IN ('wallet', 'client', 'tenant')),
  asset          text NOT NULL,
  period_seconds integer NOT NULL CHECK (period_seconds > 0),
  bucket_seconds integer NOT NULL CHECK (bucket_seconds > 0),
  -- The event up to which the past was counted; null if it is complete, and counts what is settled from then on.
  filled_to      bigint,
  -- Whether a policy in force has tested it.
  in_force       boolean NOT NULL DEFAULT false,
  -- When no policy tested it any more. It counts for another minute, for processes that still have the policy before.
  retired_at     timestamptz
);

-- Serves what counts and what judges.
CREATE INDEX usage_windows_by_tenant ON usage_windows (tenant_id, asset);

-- Each window once.
CREATE UNIQUE INDEX usage_windows_current ON usage_windows (tenant_id, per, asset, period_seconds) WHERE retired_at IS NULL;

-- Serves the removal of those that are no longer needed.
CREATE INDEX usage_windows_retired ON usage_windows (retired_at) WHERE retired_at IS NOT NULL;

-- What was counted from `start` on, for as long as a bucket of the window is. A busy bucket is updated with each batch, so there is room
-- for its next versions on the page.
CREATE TABLE usage_buckets (
  window_id  bigint NOT NULL,
  scope_id   uuid NOT NULL,
  start      timestamptz NOT NULL,
  sum        numeric(78, 0) NOT NULL,
  count      bigint NOT NULL,
  -- When no period contains it any more.
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (window_id, scope_id, start)
) WITH (fillfactor = 70);

-- Serves the removal of what is older than the period.
CREATE INDEX usage_buckets_expired ON usage_buckets (expires_at);

-- Serves the repair of what is dated in the future.
CREATE INDEX usage_buckets_by_start ON usage_buckets (start);

-- The windows of the policies in force, and of the versions that guard them.
WITH latest AS (
  SELECT DISTINCT ON (tenant_id) tenant_id, document, guards FROM policies ORDER BY tenant_id, version DESC
), documents AS (
  SELECT tenant_id, document FROM latest
  UNION ALL
  SELECT p.tenant_id, p.document FROM latest l
  CROSS JOIN LATERAL jsonb_array_elements(l.guards) AS g (guard)
  JOIN policies p ON p.tenant_id = l.tenant_id AND p.version = (g.guard ->> 'version')::integer
), kinds AS (
  SELECT DISTINCT d.tenant_id, tested.kind ->> 'per' AS per, coalesce(tested.kind ->> 'asset', '') AS asset,
    (tested.kind ->> 'period_seconds')::integer AS period_seconds
  FROM documents d
  CROSS JOIN LATERAL jsonb_array_elements(d.document -> 'rules') AS r (rule)
  CROSS JOIN LATERAL (VALUES (r.rule -> 'when' -> 'sum'), (r.rule -> 'when' -> 'count')) AS tested (kind)
  WHERE jsonb_typeof(tested.kind) = 'object'
)
INSERT INTO usage_windows (tenant_id, per, asset, period_seconds, bucket_seconds, in_force)
SELECT tenant_id, per, asset, period_seconds, greatest(period_seconds / 60, 1), true FROM kinds
ORDER BY tenant_id, per, asset, period_seconds;

-- A total holds everything up to its time, so what was counted since the one before is the difference. An amount is dated at the later of
-- the two, so it counts for as long as before or for longer.
INSERT INTO usage_buckets (window_id, scope_id, start, sum, count, expires_at)
SELECT window_id, scope_id, start, sum(sum), sum(count), start + interval '1 second' * (period_seconds + bucket_seconds)
FROM (
  SELECT w.id AS window_id, t.scope_id, w.period_seconds, w.bucket_seconds, t.at,
    date_bin(interval '1 second' * w.bucket_seconds, t.at, 'epoch') AS start,
    t.sum - coalesce(lag(t.sum) OVER totals, 0) AS sum, t.count - coalesce(lag(t.count) OVER totals, 0) AS count
  FROM usage_windows w
  JOIN usage_totals t ON t.tenant_id = w.tenant_id AND t.scope = w.per AND t.asset = w.asset
  WINDOW totals AS (PARTITION BY w.id, t.scope_id ORDER BY t.at)
) AS counted
WHERE start > now() - interval '1 second' * (period_seconds + bucket_seconds)
GROUP BY window_id, scope_id, start, period_seconds, bucket_seconds;

DROP TABLE usage_totals;
