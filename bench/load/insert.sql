-- One such row a commit: what accepting costs without a service around it.
INSERT INTO bench_transactions
  (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, source_account_id, destination_account_id, created_at)
VALUES
  ('00000000-0000-7000-8000-000000000001', gen_random_uuid(), gen_random_uuid()::text, '\x00', '00000000-0000-7000-8000-000000000001',
   'invoice-2026-0001', 'USD', 1, '00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002', now());
