import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { approvalDigest, isBursarError, readApprovalTerms } from "@bursar/client";
import { CliError } from "../exit-codes.js";
import { deliveryLine } from "../listen/delivery-line.js";
import { registerEndpoint } from "../listen/own-endpoint.js";
import { startReceiver } from "../listen/receive.js";
import type { Tour } from "./tour.js";

interface Step {
  title: string;
  run: (tour: Tour) => Promise<void>;
}

/** Each step shows one promise of the service. They leave the policy and the endpoints as they were. */
export const tourSteps: readonly Step[] = [
  { title: "A token says who you are", run: showMe },
  { title: "A payment happens once, also if the request is repeated", run: payOnce },
  { title: "Tenants do not see each other", run: showIsolation },
  { title: "Policy decides, and people approve exactly what they see", run: approve },
  { title: "Webhooks are signed", run: receiveWebhook },
  { title: "Orders trade in a market", run: trade },
  { title: "Quotas say when to come back", run: hitQuota },
  { title: "Everything is recorded", run: showRecords },
];

const pollMs = 200;
const pollsMax = 50;
const newKey = () => `tour-${randomUUID().slice(0, 13)}`;

async function showMe({ as, say }: Tour): Promise<void> {
  const { client, tenant, token } = await as("sandbox").me.get();
  say(`You are ${client.name} of ${tenant.name}, with ${token.scopes.length} scopes.`);
}

async function payOnce({ as, say }: Tour): Promise<void> {
  const { transactions } = as("sandbox");
  const body = { reference: "tour", asset: "USD", amount: "125.50" };
  const key = { idempotencyKey: newKey() };
  const first = await transactions.create(body, key);
  const done = await transactions.waitFor(first.id);
  say(`${first.id} is ${done.state}.`);
  const again = await transactions.create(body, key);
  say(`The same request again returns ${again.id}; replayed: ${again.lastResponse.replayed ? "yes" : "no"}.`);
  await refused("IDEMPOTENCY_KEY_REUSED", () => transactions.create({ ...body, amount: "999" }, key));
  say("Another payment with the same key is refused.");
}

async function showIsolation({ as, say }: Tour): Promise<void> {
  const { data } = await as("sandbox").transactions.list({ limit: 1 }).page();
  await refused("TRANSACTION_NOT_FOUND", () => as("other").transactions.get(data[0]?.id ?? ""));
  say("For another tenant, the transaction does not exist.");
}

async function approve({ as, forCleanup, say }: Tour): Promise<void> {
  const [own, officer] = [as("sandbox"), as("approver")];
  const before = await own.policy.get();
  const rule = {
    name: "tour-large-payments",
    when: { amount: { asset: "USD", min: "10000" } },
    action: "require_approval" as const,
    approvals: 1,
  };
  const stricter = { ...before.document, rules: [rule, ...before.document.rules] };
  const changed = await own.policy.replace(stricter, before.lastResponse.etag ?? "");
  say("From 10,000 USD on, somebody else must approve.");
  try {
    const body = { reference: "tour-large", asset: "USD", amount: "12500" };
    const { id } = await own.transactions.create(body, { idempotencyKey: newKey() });
    const waiting = await own.transactions.waitFor(id, {
      until: ({ state }) => state !== "accepted" && state !== "processing",
    });
    const [shown, me, assets] = [
      await officer.transactions.get(id),
      await officer.me.get(),
      await officer.assets.list(),
    ];
    const decimals = assets.data.find(({ code }) => code === shown.asset)?.decimals ?? 0;
    const digest = await approvalDigest(readApprovalTerms(shown, me.tenant.id, decimals));
    say(
      `${id} is ${waiting.state}. The approver computes the digest ${digest.slice(0, 16)}… from what it sees.`,
    );
    if (digest !== shown.approval?.digest) throw new CliError("The digest of the service differs.");
    await officer.transactions.decide(id, { decision: "approve", digest, comment: "the tour" });
    say(`Approved, and ${(await own.transactions.waitFor(id)).state}.`);
  } finally {
    const { policy } = forCleanup("sandbox");
    await policy.replace(
      before.document,
      changed.lastResponse.etag ?? (await policy.get()).lastResponse.etag ?? "",
    );
    say("The policy is as it was.");
  }
}

async function receiveWebhook({ as, forCleanup, say, context }: Tour): Promise<void> {
  const bursar = as("sandbox");
  let secret = "";
  let arrived = () => {};
  const delivered = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const receiver = await startReceiver({
    port: 0,
    secrets: () => [secret],
    status: 200,
    delayMs: 0,
    forwardTo: undefined,
    onDelivery: (delivery) => {
      say(deliveryLine(delivery, context.output.style));
      if (delivery.body.includes("completed")) arrived();
    },
  });
  const endpoint = await registerEndpoint(bursar, receiver.url, []);
  try {
    secret = endpoint?.secret ?? "";
    await bursar.webhookEndpoints.verify(endpoint?.id ?? "");
    await bursar.transactions.create(
      { reference: "tour-webhook", asset: "USD", amount: "1" },
      { idempotencyKey: newKey() },
    );
    await Promise.race([
      delivered,
      new Promise((_, reject) => setTimeout(() => reject(new CliError("No webhook came.")), 30_000).unref()),
    ]);
  } finally {
    await endpoint?.remove(forCleanup("sandbox"));
    await receiver.close();
  }
}

async function trade({ as, say }: Tour): Promise<void> {
  const { markets, orderbook, orders } = as("sandbox");
  const [market] = (await markets.list()).data;
  const book = await orderbook.get({ market: market?.market ?? "", depth: 1 });
  const [price] = book.asks[0] ?? [];
  if (market === undefined || price === undefined) {
    say("The book is empty, so there is nothing to trade with.");
    return;
  }
  say(`The best offer in ${book.market} is ${price}.`);
  const placed = await orders.place(
    { market: book.market, side: "buy", type: "limit", price, size: market.size_min, time_in_force: "ioc" },
    { idempotencyKey: newKey() },
  );
  for (let attempt = 0; attempt < pollsMax; attempt++) {
    const { state, filled } = await orders.get(placed.id);
    if (state !== "pending") {
      say(`${placed.id} is ${state}: it bought ${filled} ${market.base}.`);
      return;
    }
    await sleep(pollMs);
  }
}

async function hitQuota({ as, say }: Tour): Promise<void> {
  const { transactions } = as("limited");
  for (let count = 1; count <= 20; count++) {
    try {
      await transactions.create(
        { reference: "tour-quota", asset: "USD", amount: "1" },
        { idempotencyKey: newKey() },
      );
    } catch (error) {
      if (!isBursarError(error, "RATE_LIMITED")) throw error;
      say(`Request ${count} is refused: try again in ${Math.ceil((error.retryAfterMs ?? 0) / 1000)} s.`);
      return;
    }
  }
  say("No request was refused.");
}

async function showRecords({ as, say }: Tour): Promise<void> {
  const { events, audit } = as("sandbox");
  const page = await events.list({ order: "desc", limit: 3 }).page();
  say(`The log has ${page.latest_sequence} events, without gaps; the last is ${page.data[0]?.event ?? "-"}.`);
  const { data } = await audit.list({ limit: 3 }).page();
  say(`The last entry of the audit log is number ${data[0]?.number}: ${data[0]?.action}.`);
}

/** The refusal is the point. */
async function refused(code: string, send: () => Promise<unknown>): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (isBursarError(error) && error.code === code) return;
    throw error;
  }
  throw new CliError(`A request was not refused with ${code}.`);
}
