// Generates the page of limits, with their defaults and keys, from the settings and the routes.
import { quotaCatalog } from "../packages/protocol/dist/index.js";
import { itemsToReplacePolicy, requestCost } from "../packages/server/dist/app/quotas/take-quota.js";
import { settings } from "../packages/server/dist/config/settings.js";
import { quotaClassOf } from "../packages/server/dist/http/quotas/quota-gate.js";

/** @param {import("../packages/server/dist/http/route.js").Route[]} routes */
export function limitsPage(routes) {
  return `# Limits

<!-- Generated from packages/server/src/config and the routes by \`npm run generate\`. -->

Everything that a client can cause the service to do is limited. Each limit is set in the configuration file under the key shown here; see [configuration](../reference/configuration.md). The responses to requests that exceed a limit are in [errors](../reference/errors.md).

## Quotas

A client has a token bucket for each class of requests. It holds up to \`burst\` tokens and gains \`per_second\` of them each second. A request takes one token before its body is read. When its body has arrived, and before it is parsed, it takes one more for each ${requestCost.bytesPerToken / 1024} KiB of it, and the items of a batch cost one more for each ${requestCost.itemsPerToken}. The rules of a policy document cost one more for each 5, and putting it in force ${itemsToReplacePolicy({ rules: [] }) / requestCost.itemsPerToken} more. The response to a GET costs one more for each ${requestCost.bytesPerToken / 1024} KiB, rows that are read for it and are not in it, because a filter leaves them out or they are only counted, one more for each 1000, a page of clients one more for each ${requestCost.clientsPerToken} of them, and the clients whose rows tell [who is independent of whom](../guides/authority.md) one more for each ${requestCost.itemsPerToken}, also if the request is refused. A delivery that is sent again costs one. [The measured costs](../decisions/0049-measured-costs.md) say why. A length that is only declared costs nothing, and neither does the body of a GET, which is ignored. A refused request does not use up its idempotency key.

A request is admitted if a token is left, even if it costs more. The bucket is then in debt, and admits nothing until it has gained the debt back. A body that arrives while its client's bucket is in debt is refused. A debt is at most the burst, or 1000 tokens if the burst is smaller; what exceeds it is remitted.

| class | for | per second | burst | routes |
|---|---|---|---|---|
${Object.entries(quotaCatalog)
  .map(([name, about]) => quotaRow(name, about, routes))
  .join("\n")}

The defaults are \`quotas.<class>_per_second\` and \`quotas.<class>_burst\`. A client can have quotas of its own. \`bursar client quota\` sets any quota. \`PATCH /v1/clients/{client_id}\` with \`{"quotas": {"create": {"per_second": 5, "burst": 10}}}\` sets a quota up to the larger of the default and the caller's own. A change takes effect in every process within 5 seconds.

All clients of a tenant share further buckets, of \`quotas.tenant_multiple\` times the defaults (${settings["quotas.tenant_multiple"].default}), or of a client's own quota if that is larger. One client can take no more from them than its own quota. Several can: at the default of 2, two clients that use their whole quota use up that of the tenant, and its other clients share what is gained. This is by design. To protect clients such as approvers, give the others smaller quotas, or raise \`quotas.tenant_multiple\`. A tenant has at most \`limits.clients_per_tenant\` clients (${settings["limits.clients_per_tenant"].default}); a further one is refused with \`CLIENT_LIMIT_REACHED\`.

Every response to an authenticated client reports the remaining quota, in the fields of [draft-ietf-httpapi-ratelimit-headers](https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/):

\`\`\`
RateLimit-Policy: "create";q=2000;w=2
RateLimit: "create";r=1999;t=1
\`\`\`

\`q\` is the burst and \`w\` the seconds in which an empty bucket fills. \`r\` is the number of remaining tokens and \`t\` the seconds until the bucket is full or, if no token remains, until there is one. If the tenant has fewer tokens left than the client, its bucket is listed too, as \`"tenant-create"\`. A request beyond the quota, also a GET that has waited for its turn while the answers to others used the quota up, is answered with 429 \`RATE_LIMITED\`, with the time to wait in \`Retry-After\` and in \`t\`, rounded up. After that time a token is available, unless the client has used it for another request. At the token endpoint the error is \`slow_down\`; revoking a valid token is never rate limited, but a call that revokes nothing is. In the sandbox, the default client has large quotas and the client \`limited\` has small ones.

### Several processes

The buckets are in PostgreSQL, and all processes share them. A process reserves a slice of tokens ahead of need, whose size depends on how fast the last one was used up, so there is no query for each request. Over any period all processes together admit at most \`burst + per_second × seconds\`, plus the tokens that they held when the period began: at most a tenth of the burst for each process, or one token if the burst is below 20; and the cost of one request in each process, which later requests repay. Tokens that one process holds are not available to the others; unused ones are returned after 10 seconds. \`r\` does not include requests that other processes have admitted since the last slice.

An empty bucket is queried at most ten times a second, and more often only if a tenth of the burst is gained sooner. A request that arrives when its process has no tokens waits for the next slice, for at most 250 ms.

If the database does not answer, each process continues with its own copy of the bucket, so several processes can admit several times the quota. Every route needs the same database and answers with 503, which names the actual problem; 429 would not. No other store, such as Redis, is used.

### Addresses

Unauthenticated requests are limited by address: requests to \`/oauth/*\`, and requests to other routes whose token is missing or invalid. An IPv6 /64 network counts as one address. A client whose token has been verified is not affected by other clients at its address. A token that the process has not seen before is verified a few at a time while its address exceeds the quota, because verifying tokens is the work that this quota limits. The files of the console and of \`/docs\` have a bucket of their own for each address, with ten times the tokens: one for each 4 KiB of a larger file, and none for smaller ones. If it is empty, the connections of the address take turns. So a neighbour on an address does not keep anybody from the login page with fewer than a thousand connections. Each process counts on its own and tracks the 10,000 addresses that it has seen last. In addition, failed authentications are slowed down, as [tokens](../guides/tokens.md) describes.

${settingsTable("quotas.address_")}

## Concurrency

A client with too many concurrent requests or connections gets 429 \`CONCURRENCY_LIMITED\`; if it has too many connections, the connection is closed too. Each process counts on its own.

${settingsTable("limits.", (key) => key.endsWith("_per_client"))}

A request to a route with a body limit of its own, listed below, is *heavy* if its body is larger than 16 KiB or has no \`Content-Length\`; \`PUT /v1/policy\` is always. The heavy requests of a tenant wait for each other, in two steps:

1. A client sends as many bodies at a time as the setting below says, and its further requests wait with their bodies unread. A tenant's bodies that arrive or wait are at most 8 times that many, to limit the memory.
2. When its body has arrived, a request waits until fewer than that many of its tenant are being served. A body that is never sent does not occupy one of these places. It delays its own client until it is answered with 408, and other clients only if 8 clients do the same.

${settingsTable("limits.", (key) => key === "limits.heavy_requests_per_tenant")}

## Orders

One process at a time runs a market, so the work that one tenant or one order can cause there is limited.

${settingsTable("limits.", (key) => key === "limits.open_orders")}

An order matches at most 1000 resting orders. Its remaining size is then cancelled with \`MATCH_LIMIT\`; place another order to continue. A \`fok\` order that would need more is rejected. A book contains at most a million orders.

## Overload

A process that cannot keep up refuses requests of the classes \`create\` and \`bulk\`, and heavy requests of any class, with 503 \`OVERLOADED\` and \`Retry-After\`, before it reads the body. It serves all other requests, such as reads, health checks and [stops](#stops). It refuses the tenants that use the most: those whose recent cost, in tokens of all classes, is at or above the average of all active tenants. Each attempt of a webhook delivery counts as one token here; quotas do not include it. The cost counts half after 5 seconds. All tenants are refused only if a single write takes longer than \`limits.accept_wait_ms\`, because then every one of them waits.

The process checks two measures twenty times a second. The overload begins when one of them exceeds its limit and ends when both have fallen to half of their limits. A delay of the event loop counts only as far as the process has used the processor itself: if other programs slow it down, refusing work would not help.

${settingsTable("limits.", (key) => key === "limits.accept_wait_ms" || key === "limits.event_loop_delay_ms")}

In addition, at most 10,000 transactions wait to be written in a process, and at most 5,000 of one tenant. Further ones are refused with the same error. Those of different tenants are written in turn.

Other requests of one tenant take turns for the connections to the database: at most half of those that requests may use serve one tenant, and at most 1000 requests of it wait, 500 of one client. Further ones are refused with 429 \`CONCURRENCY_LIMITED\`. The clients of a tenant take turns, so a client with many waiting requests delays the first one of another by one turn. If all places of the tenant are taken, the client with the most gives up its last one. The caller is reviewed again when its turn comes: a client that was disabled meanwhile gets 401. Requests that verify or test a webhook endpoint wait for a receiver that their client has named, so they take turns of their own: 40 are served at once, 8 of one tenant and 4 of one client.

## Stops

Requests that stop something take turns of their own: freezing a wallet, cancelling a transaction or an order, rejecting a payment or a change, disabling a client, removing a secret or a key, and requesting one of these for a protected client. What else the clients of the tenant do cannot delay them. One stop of a client and, with the default of 10 connections, two of a tenant are served at once; 50 of a client wait. To disable a client or to freeze a wallet waits up to 5 seconds until the orders are out of the books; beside one that waits, others do so for 250 ms. Orders that are still there do not trade. They are not shed in an overload. If other clients have used up the quota of the tenant, each client has a reserve for stops, and for the token that they need: a burst of 10 and one per second in each process. The quota of the client itself still applies. Approving a change request has that reserve too, because it can disable a client, but it takes turns with other requests.

## Sizes and times

A body in chunks may have 256 of them, and one more for each 256 bytes; with more, the request is answered with 400 and the connection is closed, because each chunk costs some microseconds, whatever its size. The rest of such a body is not read after the request was answered. Such a body counts as a failed request of its address. Until its connection is closed it costs up to 40 ms, because a read of 64 KiB is parsed whole, so somebody who opens many of them can still use up a core: a proxy that buffers bodies, in front of the service, prevents it.

A process accepts one connection in each turn of its event loop, so while others open 80 at once, and ask for a full page on each, a new connection was accepted after up to 8 s on a busy machine; requests on open connections were not delayed. Let the proxy keep its connections to the service, and give probes a timeout of 10 s.

${settingsTable("limits.", (key) => !/_per_client$|_per_tenant$|accept_wait|event_loop/.test(key))}

Routes with a body limit of their own:

| route | bytes |
|---|---|
${routes
  .filter((route) => route.bodyBytesMax !== undefined)
  .map((route) => `| \`${route.method} ${route.path}\` | ${route.bodyBytesMax} |`)
  .join("\n")}

## Metrics

\`/metrics\` has \`bursar_errors_total\` by code, among them \`RATE_LIMITED\`, \`CONCURRENCY_LIMITED\` and \`OVERLOADED\`; \`bursar_overloaded\`, \`bursar_accept_wait_seconds\` and \`nodejs_eventloop_lag_seconds\`; \`bursar_quota_reservations_total\` and \`bursar_quota_reservations_unanswered_total\`; and \`bursar_address_refusals_total\`.
`;
}

/** @param {string} name @param {string} about @param {import("../packages/server/dist/http/route.js").Route[]} routes */
function quotaRow(name, about, routes) {
  const own = routes.flatMap(({ method, path, access }) =>
    access !== "open" && quotaClassOf({ method, path, access }) === name ? [`\`${method} ${path}\``] : [],
  );
  const value = (/** @type {string} */ key) =>
    /** @type {Record<string, { default?: string | number }>} */ (settings)[key]?.default;
  const cells = [
    value(`quotas.${name}_per_second`),
    value(`quotas.${name}_burst`),
    own.join("<br>") || "none yet",
  ];
  return `| \`${name}\` | ${about} | ${cells.join(" | ")} |`;
}

/** @param {string} prefix @param {(key: string) => boolean} [isListed] */
function settingsTable(prefix, isListed = () => true) {
  const rows = Object.entries(settings)
    .filter(([key]) => key.startsWith(prefix) && isListed(key))
    .map(
      ([key, { default: value, about, allowed }]) =>
        `| \`${key}\` | ${value} | ${about} It must be ${allowed}. |`,
    );
  return `| key | default | |\n|---|---|---|\n${rows.join("\n")}`;
}
