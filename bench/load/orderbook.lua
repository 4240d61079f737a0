-- GET /v1/orderbook: the first market, 50 levels of each side.
wrk.headers["authorization"] = "Bearer " .. os.getenv("BENCH_TOKEN")
wrk.path = "/v1/orderbook"
