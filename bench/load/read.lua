-- Reads transactions, one of many at a time: those whose ids stand in a file, one a line, from anywhere on.
local token = os.getenv("BENCH_TOKEN") or ""
local headers = { ["Authorization"] = "Bearer " .. token }
local ids = {}
for id in io.lines(os.getenv("BENCH_IDS")) do ids[#ids + 1] = id end
local count = tonumber(os.getenv("BENCH_START")) or 0
request = function()
  count = count + 1
  return wrk.format("GET", "/v1/transactions/" .. ids[count % #ids + 1], headers)
end
