import { randomUUID } from "node:crypto";
import { tradingPolicy } from "@bursar/domain";
import type { Order, Orderbook } from "@bursar/protocol";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { eventually } from "../eventually.js";
import type { BlackBoxService, InspectableService, TestClient } from "../service/test-service.js";
import { policyOf } from "../transactions/policy-client.js";
import { transactionsOf } from "../transactions/transactions-client.js";

interface OrderAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: Order & { error?: { code: string; message: string; details?: { path: string; reason: string }[] } };
}

type Funds = Readonly<Record<string, string>>;

export type Trader = Awaited<ReturnType<typeof createTrader>>;

/** A tenant with this much in its primary wallet and a policy that allows orders, and what a client of the orders API does for it. */
export async function createTrader(service: BlackBoxService, funds: Funds, { allowsOrders = true } = {}) {
  const owner = await service.createTenant();
  for (const [asset, amount] of Object.entries(funds)) await service.fund(owner, asset, amount);
  if (allowsOrders) await allowOrders(service, owner);
  return tradingAs(service, owner);
}

/** Stores the policy of a tenant that trades: a new tenant's refuses orders. */
async function allowOrders(service: BlackBoxService, owner: TestClient): Promise<void> {
  const { status } = await policyOf(service, await service.token(owner)).replace(tradingPolicy);
  if (status !== 200) throw new Error(`the policy was answered with ${status}`);
}

/** The same for an existing tenant, at the given service. */
export async function tradingAs(service: BlackBoxService, owner: TestClient) {
  const token = await service.token(owner);
  const { send: sendAny } = transactionsOf(service, token);
  const send = async (...request: Parameters<typeof sendAny>) =>
    (await sendAny(...request)) as unknown as OrderAnswer;
  const place = (body: object, key: string = randomUUID()) =>
    send("POST", "/v1/orders", { market: "ETH-USD", ...body }, { "idempotency-key": key });
  const read = async (id: string) => (await send("GET", `/v1/orders/${id}`)).body;
  const until = (id: string, isExpected: (order: Order) => boolean) => eventually(() => read(id), isExpected);
  return {
    owner,
    token,
    send,
    place,
    read,
    until,
    /** Places an order and waits until the market's owner has dealt with it. */
    placed: async (body: object) => {
      const { status, text, body: accepted } = await place(body);
      if (status !== 202) throw new Error(text);
      return await until(accepted.id, ({ state }) => state !== "pending");
    },
    balances: async () => {
      const { data } = (await send("GET", "/v1/wallets")).body as unknown as {
        data: { role: string; balances: { asset: string; available: string; held: string }[] }[];
      };
      const primary = data.find(({ role }) => role === "primary");
      return Object.fromEntries(
        (primary?.balances ?? []).map(({ asset, available, held }) => [asset, [available, held]]),
      );
    },
    book: async (query = "") => (await send("GET", `/v1/orderbook${query}`)).body as unknown as Orderbook,
  };
}

/** What `bursar audit ledger` finds wrong. */
export async function findViolations(service: Pick<InspectableService, "database">) {
  return (await auditLedger(service.database)).filter(({ violations }) => violations.length > 0);
}
