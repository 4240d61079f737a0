// The page of limits: every one with its default and how to change it, from the settings and the routes.
import { quotaCatalog } from "../packages/protocol/dist/index.js";
import { settings } from "../packages/server/dist/config/settings.js";
import { quotaClassOf } from "../packages/server/dist/http/quotas/quota-gate.js";

/** @param {import("../packages/server/dist/http/route.js").Route[]} routes */
export function limitsPage(routes) {
  return `# Limits

<!-- Generated from packages/server/src/config and the routes by \`npm run generate\`. -->

Everything that a client can make the service do has a bound. Each is set in the configuration file under the key that is shown here; see [configuration](../reference/configuration.md). What a request that meets one is answered with is in [errors](../reference/errors.md).

## Quotas

A client has a token bucket for each class of requests. It holds up to \`burst\` tokens and gains \`per_second\` of them each second; a request takes one, before its body is read, so a refused request uses up no idempotency key.

| class | for | a second | at once | routes |
|---|---|---|---|---|
${Object.entries(quotaCatalog)
  .map(([name, about]) => quotaRow(name, about, routes))
  .join("\n")}

The defaults are \`quotas.<class>_per_second\` and \`quotas.<class>_burst\`. A client can have quotas of its own: with \`bursar client quota\`, which may give any, or with \`PATCH /v1/clients/{client_id}\` and \`{"quotas": {"create": {"per_second": 5, "burst": 10}}}\`, which gives no more than the default or than the caller has itself. They are in force everywhere within 5 seconds. Quotas are counted by client: a caller that may create clients can have more than one, so a client that is to stay limited must not hold \`clients:manage\`.

Every answer to a client that has proven itself says what is left, in the fields of [draft-ietf-httpapi-ratelimit-headers](https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/):

\`\`\`
RateLimit-Policy: "create";q=2000;w=2
RateLimit: "create";r=1999;t=1
\`\`\`

\`q\` is the burst and \`w\` the seconds in which an empty bucket fills; \`r\` is what is left and \`t\` the seconds until the bucket is full again or, where nothing is left, until there is something. The sandbox's own client has quotas wide enough for everything; \`limited\` has small ones. Beyond the quota the answer is 429 \`RATE_LIMITED\`, with the time to wait in \`Retry-After\` and in \`t\`, rounded up: the token is there then, unless the client itself has used it elsewhere meanwhile. At the token endpoint it is \`slow_down\`; revoking a token is never refused.

### Several processes

The buckets are in PostgreSQL, and all processes take from them: ahead of need, a slice at a time, sized by how fast the last one was used up. So there is no query for each request, and never a token too many: over any period all processes together let in at most \`burst + per_second × seconds\`, and besides what they held when the period began, which is at most a tenth of the burst for each process (one token where the burst is below 20). What a process holds and does not use is missing elsewhere by the same measure; it is given back after 10 seconds. \`r\` is what the process knows: what others have used since its last slice is not in it.

A bucket that is dry is asked ten times a second at most, more often only where a tenth of the burst is gained sooner. A request that finds its process without a slice waits for the next one, 250 ms at most.

When the database does not answer, each process carries on with what it last knew of the bucket, by its own arithmetic, so several processes may let in several times the quota. Everything that a client could ask for needs the same database and is answered with 503, which is the truth; 429 would not be. There is no other store for this: Redis is not used.

### Addresses

Before a client has proven itself its address counts: requests to \`/oauth/*\`, and requests anywhere else whose token is missing or wrong. An IPv6 network of 64 bits is one address. A client that is known is not touched by what its neighbours do; one that comes with a token for the first time is refused while its address is over the quota, because finding out that the token is good is the very work that is bounded. Each process counts on its own and forgets the longest unseen of more than 10,000 addresses. Besides, wrong secrets are slowed down as [tokens](../guides/tokens.md) describes.

${settingsTable("quotas.address_")}

## Open at once

A client that has too much open is answered with 429 \`CONCURRENCY_LIMITED\`, and where it is connections, the connection closes. Each process counts on its own.

${settingsTable("limits.", (key) => key.endsWith("_per_client"))}

## Orders

A market is worked on by one process at a time, so what one tenant and one order can ask of it is bounded.

${settingsTable("limits.", (key) => key === "limits.open_orders")}

An order meets at most 1000 resting orders; what is left of it then is cancelled with \`MATCH_LIMIT\`, and another one can go on. A \`fok\` order that would need more is rejected. A book holds at most a million orders.

## Overload

When a process cannot keep up it refuses new work early, with 503 \`OVERLOADED\` and \`Retry-After\`: everything of the classes \`create\` and \`bulk\`, before the token is looked at and the body is read. Reads, health and everything else are served. Two signs decide, looked at twenty times a second; it ends when both have fallen to half of their bounds.

${settingsTable("limits.", (key) => key === "limits.accept_wait_ms" || key === "limits.event_loop_delay_ms")}

Besides, 10,000 transactions at most wait to be written in a process; what comes then is answered with the same error.

## Sizes and times

${settingsTable("limits.", (key) => !/_per_client$|accept_wait|event_loop/.test(key))}

Routes with a body limit of their own:

| route | bytes |
|---|---|
${routes
  .filter((route) => route.bodyBytesMax !== undefined)
  .map((route) => `| \`${route.method} ${route.path}\` | ${route.bodyBytesMax} |`)
  .join("\n")}

## To watch

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
