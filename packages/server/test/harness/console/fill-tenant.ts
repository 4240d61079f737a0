import { randomUUID } from "node:crypto";
import { tradingPolicy } from "@bursar/domain";
import { grantableScopes, type Transaction, type Wallet } from "@bursar/protocol";
import { expect } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../eventually.js";
import { createTrader } from "../markets/trader.js";
import type { TestClient, TestService } from "../service/test-service.js";
import { startWebhookReceiver, type WebhookReceiver } from "../webhooks/webhook-receiver.js";

const walletNames = [
  ["Payroll", "payout"],
  ["Customer refunds", "payout"],
  ["Suppliers", "payout"],
  ["Card settlement", "settlement"],
  ["Reserve", "treasury"],
] as const;

const payments = [
  ["payroll 2026-11", "18400.00", 0],
  ["refund 88213", "49.90", 1],
  ["refund 88214", "12.00", 1],
  ["invoice 2031 Halvorsen Print", "1250.00", 2],
  ["invoice 2032 Oakline Freight", "3870.40", 2],
  ["invoice 2033 Verdant Power", "642.18", 2],
  ["card batch 4411", "9120.75", 3],
  ["card batch 4412", "8066.10", 3],
  ["reserve 2026-46", "15000.00", 4],
  ["refund 88220", "230.00", 1],
  ["invoice 2035 Lumen Data", "1999.00", 2],
  ["invoice 2036 Halvorsen Print", "410.55", 2],
] as const;

/** More than anybody may pay alone. */
const large = [
  ["invoice 2041 Norfjord Shipping", "62500.00"],
  ["invoice 2042 Castell Machines", "118000.00"],
  ["acquisition, second part", "240000.00"],
] as const;

const destinations = [
  ["Norfjord Shipping, treasury", "0x52908400098527886E0F7030069857D2E4169EE7"],
  ["Custodian, cold storage", "0x8617E340B3D01FA5F11F306F4090FD50E238070D"],
  ["Castell Machines", "0xde709f2102306220921060314715629080e2fb77"],
] as const;

const people = [
  ["Grace Okafor", "approver"],
  ["Alan Petrov", "approver"],
  ["Lin Sato", "operator"],
  ["Maria Duarte", "auditor"],
] as const;

export interface FilledTenant {
  /** Objects that are worth a look, by the part of a page's path that their id follows. */
  objects: Record<"approvals" | "transactions" | "wallets" | "people", string>;
  /** Receives what the service delivers. */
  receiver: WebhookReceiver;
}

/** Gives a tenant what a treasury has after some days, so that pages are seen as people see them. */
export async function fillTenant(
  service: TestService,
  owner: TestClient,
  token: string,
): Promise<FilledTenant> {
  const post = async <Made = { id: string }>(path: string, body: object): Promise<Made> => {
    const answer = await service.call("POST", path, token, body, { "idempotency-key": randomUUID() });
    expect([path, answer.status]).toEqual([path, expect.toSatisfy((status: number) => status < 300)]);
    return (await answer.json()) as Made;
  };
  const rule = {
    name: "large-payments",
    when: { amount: { asset: "USD", min: "50000" } },
    action: "require_approval",
    approvals: 2,
  };
  const policy = { ...tradingPolicy, rules: [rule, ...tradingPolicy.rules] };
  await service.call("PUT", "/v1/policy", token, policy, { "if-match": '"1"' });
  const receiver = await startWebhookReceiver();
  const endpoint = await post("/v1/webhook-endpoints", {
    url: receiver.url,
    description: "Accounting",
    events: ["transaction.updated"],
  });
  await service.call("POST", `/v1/webhook-endpoints/${endpoint.id}/verify`, token);
  const wallets: Wallet[] = [];
  for (const [name, purpose] of walletNames) wallets.push(await post("/v1/wallets", { name, purpose }));
  for (const [label, address] of destinations)
    await post("/v1/destinations", { label, network: "eip155:1", address });
  for (const [name, role] of people)
    await service.inviteAsOperator(owner, {
      email: `${name.toLowerCase().replace(" ", ".")}@northwind.example`,
      name,
      role,
    });
  for (const name of ["payments-api", "reconciliation", "month-end"])
    await post("/v1/clients", { name, scopes: grantableScopes.slice(0, 4) });
  const pay = (reference: string, amount: string, more: object = {}) =>
    post<Transaction>("/v1/transactions", { reference, asset: "USD", amount, ...more });
  const paid = [];
  for (const [reference, amount, to] of payments)
    paid.push(await pay(reference, amount, { destination: { wallet_id: wallets[to]?.id } }));
  const waiting = [];
  for (const [reference, amount] of large) waiting.push(await pay(reference, amount));
  // There is less in it.
  await pay("refund 88231", "45000.00", { source: { wallet_id: wallets[1]?.id } });
  await service.call("POST", `/v1/wallets/${wallets[3]?.id}/freeze`, token, {
    reason: "Chargebacks of batch 4412 are being examined.",
  });
  await trade(service, token);
  const [first] = waiting;
  await eventually(
    async () =>
      (await (await service.call("GET", `/v1/transactions/${first?.id}`, token)).json()) as Transaction,
    ({ state }) => state === "awaiting_approval",
  );
  await writePast(service, owner, walletNames.length);
  const listed = await service.call("GET", "/v1/people", token);
  const { data } = (await listed.json()) as { data: { id: string; name: string }[] };
  return {
    objects: {
      approvals: first?.id ?? "",
      transactions: paid[4]?.id ?? "",
      wallets: wallets[2]?.id ?? "",
      people: data.find(({ name }) => name === "Lin Sato")?.id ?? "",
    },
    receiver,
  };
}

/** Others offer on both sides of a price, some of it is taken, and two orders of the tenant rest. */
async function trade(service: TestService, token: string): Promise<void> {
  const maker = await createTrader(service, { USD: "1000000", ETH: "500" });
  for (let level = 1; level <= 9; level++) {
    await maker.place({ side: "buy", price: `${2400 - level * 2}`, size: `${level * 0.75}` });
    await maker.place({ side: "sell", price: `${2400 + level * 2}`, size: `${10 - level * 0.5}` });
  }
  const place = (body: object) =>
    service.call(
      "POST",
      "/v1/orders",
      token,
      { market: "ETH-USD", ...body },
      { "idempotency-key": randomUUID() },
    );
  for (const size of ["0.5", "1.25", "0.75", "2"]) await place({ side: "buy", price: "2404", size });
  await place({ side: "buy", price: "2396", size: "1.5", reference: "hedge Q4" });
  await place({ side: "buy", price: "2390", size: "3", reference: "hedge Q4, second" });
}

/** What the readers of the log would have stored on the days before. */
async function writePast(
  { database }: TestService,
  { client: { tenantId } }: TestClient,
  walletCount: number,
): Promise<void> {
  await eventually(
    () =>
      database.query<{ count: number }>(sql`
        SELECT count(DISTINCT wallet_id)::int AS count FROM wallet_periods WHERE tenant_id = ${tenantId}`),
    ([row]) => (row?.count ?? 0) >= walletCount,
  );
  await database.query(sql`
    INSERT INTO wallet_periods (tenant_id, wallet_id, asset, period, start, received, sent, balance)
    SELECT tenant_id, wallet_id, asset, period, start - n * CASE period WHEN 'day' THEN interval '1 day' ELSE interval '1 hour' END,
      received, sent, round(balance * (1 + 0.35 * sin(n / 5.0) - n * 0.004))
    FROM wallet_periods, generate_series(1, 72) AS n WHERE tenant_id = ${tenantId}
    ON CONFLICT DO NOTHING`);
  await database.query(sql`
    INSERT INTO transaction_periods (tenant_id, period, start, state, asset, entered, entered_amount, left_count, left_amount)
    SELECT tenant_id, period, start - n * interval '1 hour', state, asset,
      greatest(1, round(entered * (1 + sin(n / 3.0)) / 2)), round(entered_amount * (1 + sin(n / 3.0)) / 2), left_count, left_amount
    FROM transaction_periods, generate_series(1, 23) AS n WHERE tenant_id = ${tenantId} AND period = 'hour'
    ON CONFLICT DO NOTHING`);
  await database.query(sql`
    INSERT INTO webhook_hours (tenant_id, endpoint_id, start, attempts, delivered, exhausted, latency_ms, latency_ms_max)
    SELECT tenant_id, endpoint_id, start - n * interval '1 hour', 10 + n % 7, CASE WHEN delivered = 0 THEN n % 5 ELSE 10 + n % 7 END,
      exhausted, latency_ms, latency_ms_max
    FROM webhook_hours, generate_series(1, 23) AS n WHERE tenant_id = ${tenantId}
    ON CONFLICT DO NOTHING`);
}
