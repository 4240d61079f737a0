-- Creates transactions, each with a key of its own.
local token = os.getenv("BENCH_TOKEN") or ""
local prefix = os.getenv("BENCH_PREFIX") or "k"
local body = '{"reference":"invoice-2026-0001","asset":"USD","amount":"0.01"}'
local headers = { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json" }
local count = 0
request = function()
  count = count + 1
  headers["Idempotency-Key"] = prefix .. count
  return wrk.format("POST", "/v1/transactions", headers, body)
end
