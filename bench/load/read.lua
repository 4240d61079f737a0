-- Reads transactions, one of many at a time.
local token = os.getenv("BENCH_TOKEN") or ""
local headers = { ["Authorization"] = "Bearer " .. token }
local ids = {}
for id in (os.getenv("BENCH_IDS") or ""):gmatch("[^,]+") do ids[#ids + 1] = id end
local count = 0
request = function()
  count = count + 1
  return wrk.format("GET", "/v1/transactions/" .. ids[count % #ids + 1], headers)
end
