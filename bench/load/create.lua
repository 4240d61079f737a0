-- Creates transactions, each with a key of its own: in order, or with BENCH_KEYS=random anywhere in the index.
local token = os.getenv("BENCH_TOKEN") or ""
local prefix = os.getenv("BENCH_PREFIX") or "k"
local random = os.getenv("BENCH_KEYS") == "random"
local body = '{"reference":"invoice-2026-0001","asset":"USD","amount":"0.01"}'
local headers = { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json" }
local count = 0
math.randomseed(tonumber(prefix:match("(%d%d%d%d%d%d%d%d%d)%-$")) or 1)
request = function()
  count = count + 1
  local scatter = random and string.format("%08x-%08x-", math.random(0, 2147483647), math.random(0, 2147483647)) or ""
  headers["Idempotency-Key"] = scatter .. prefix .. count
  return wrk.format("POST", "/v1/transactions", headers, body)
end
