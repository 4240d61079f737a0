import { integer } from "./setting.js";

/** The limits on sizes, times, concurrency and load. */
export const limitSettings = {
  "limits.body_bytes": integer(
    { default: 65_536, about: "The maximum size of a request body." },
    { min: 1024, max: 16_777_216 },
  ),
  "limits.header_bytes": integer(
    { default: 8192, about: "The maximum size of the request line and headers together." },
    { min: 1024, max: 65_536 },
  ),
  "limits.json_depth": integer(
    { default: 16, about: "The maximum nesting depth of objects and arrays in a body." },
    { min: 1, max: 128 },
  ),
  "limits.headers_timeout_ms": integer(
    { default: 5000, about: "The timeout for receiving the headers of a request." },
    { min: 100, max: 60_000 },
  ),
  "limits.request_timeout_ms": integer(
    { default: 10_000, about: "The timeout for receiving a whole request." },
    { min: 100, max: 300_000 },
  ),
  "limits.requests_per_client": integer(
    { default: 500, about: "The maximum number of concurrent requests of one client in a process." },
    { min: 1, max: 1_000_000 },
  ),
  "limits.connections_per_client": integer(
    {
      default: 1000,
      about:
        "The maximum number of connections of one client to a process. A connection counts for every client that uses it. Not limited if `trusted_proxies` is set, because all connections are then the proxy's.",
    },
    { min: 1, max: 1_000_000 },
  ),
  "limits.heavy_requests_per_tenant": integer(
    {
      default: 2,
      about:
        "The maximum number of concurrent requests with a body of more than 16 KiB of one tenant that a process serves, and of one client whose bodies it receives. Up to 50 more wait, for at most 5 s.",
    },
    { min: 1, max: 1_000_000 },
  ),
  "limits.clients_per_tenant": integer(
    {
      default: 1000,
      about:
        "The maximum number of API clients of a tenant. A further one is refused with `CLIENT_LIMIT_REACHED`.",
    },
    { min: 1, max: 1_000_000 },
  ),
  "limits.open_orders": integer(
    {
      default: 10_000,
      about:
        "The maximum number of open orders of a tenant in one market. A further order that could rest is `rejected` with `TOO_MANY_OPEN_ORDERS`.",
    },
    { min: 1, max: 1_000_000 },
  ),
  "limits.accept_wait_ms": integer(
    {
      default: 2000,
      about: "The longest time that a request may wait to be written before new work is refused.",
    },
    { min: 10, max: 60_000 },
  ),
  "limits.event_loop_delay_ms": integer(
    {
      default: 500,
      about:
        "The sustained event loop delay, as far as it is caused by the process itself, above which new work is refused.",
    },
    { min: 10, max: 60_000 },
  ),
  "limits.idle_timeout_ms": integer(
    {
      default: 60_000,
      about:
        "The idle timeout of a connection, as when a client does not read its response. A response can be delayed for 30 s by a long poll. It is at least 2 s longer than `limits.request_timeout_ms`, so that a request that stops arriving is answered.",
    },
    { min: 31_000, max: 600_000 },
  ),
  "limits.drain_delay_ms": integer(
    {
      env: "BURSAR_DRAIN_DELAY_MS",
      default: 5000,
      about:
        "The time between a stop signal and the begin of the shutdown. The service reports that it is not ready and still serves all requests, so that load balancers can take it out. In the sandbox the default is 0.",
    },
    { min: 0, max: 300_000 },
  ),
  "limits.shutdown_timeout_ms": integer(
    { default: 10_000, about: "The maximum duration of a shutdown; requests in flight get most of it." },
    { min: 1000, max: 600_000 },
  ),
};
