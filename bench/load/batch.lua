-- Creates transactions a thousand at a time.
local token = os.getenv("BENCH_TOKEN") or ""
local prefix = os.getenv("BENCH_PREFIX") or "k"
local headers = { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json" }
local count = 0
request = function()
  local items = {}
  for index = 1, 1000 do
    count = count + 1
    items[index] = '{"idempotency_key":"' .. prefix .. count .. '","reference":"invoice-2026-0001","asset":"USD","amount":"0.01"}'
  end
  return wrk.format("POST", "/v1/transactions/batch", headers, '{"transactions":[' .. table.concat(items, ",") .. "]}")
end
