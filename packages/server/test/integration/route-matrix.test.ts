import { allScopes, type Scope } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../src/http/api.js";
import type { Route } from "../../src/http/route.js";
import { eventually } from "../harness/eventually.js";
import { startTestService, type TestClient, type TestService } from "../harness/test-service.js";

/**
 * Every route, tried by everybody who may not: without a token, with every scope but the right one, and with another tenant's
 * token on this tenant's objects. The list comes from the routes themselves; a new one is in here without being asked.
 */
const all = listRoutes({} as never, "");
const routes = all.filter((route) => route.access !== "open" && route.access !== "oauth");
const named = routes.map((route) => [`${route.method} ${route.path}`, route] as const);

/** A body that the route's schema takes, so that nothing but the caller can be refused. */
const bodies: Record<string, unknown> = {
  createClient: { name: "matrix", scopes: [] },
  changeClient: { name: "changed" },
  rotateSecret: {},
  addKey: { algorithm: "hmac-sha256" },
  createTransaction: { reference: "matrix", asset: "USD", amount: "1" },
  createTransactions: {
    transactions: [{ idempotency_key: "matrix", reference: "matrix", asset: "USD", amount: "1" }],
  },
  createWallet: { name: "matrix", purpose: "payout" },
  createWebhookEndpoint: { url: "https://matrix.example/hook" },
  changeWebhookEndpoint: { description: "changed" },
  rotateWebhookSecret: {},
  resendFailedWebhooks: { created_before: "2020-01-01T00:00:00Z" },
  replayWebhooks: { endpoint_id: "whe_01h455vb4pex5vsknk084sn02q", from_sequence: 1 },
};

/** Identifiers of the right form that nobody has. */
const unknownIds: Record<string, string> = {
  clients: "cli_01h455vb4pex5vsknk084sn02q",
  transactions: "tx_01h455vb4pex5vsknk084sn02q",
  wallets: "wlt_01h455vb4pex5vsknk084sn02q",
  "webhook-endpoints": "whe_01h455vb4pex5vsknk084sn02q",
  "webhook-deliveries": "dlv_01h455vb4pex5vsknk084sn02q",
};

async function firstDelivery(service: TestService, token: string): Promise<string> {
  const [delivery] = await eventually(
    async () => {
      const answer = await service.call("GET", "/v1/webhook-deliveries", token);
      return ((await answer.json()) as { data: { id: string }[] }).data;
    },
    (data) => data.length > 0,
  );
  return delivery?.id ?? "";
}

describe("every route", () => {
  let service: TestService;
  let owner: TestClient;
  let stranger: TestClient;
  /** Ids of the owner's objects, by the collection that a path has them in. */
  const objects: Record<string, string> = {};

  beforeAll(async () => {
    service = await startTestService();
    owner = await service.createTenant();
    stranger = await service.createTenant();
    const token = await service.token(owner);
    const path = `/v1/clients/${owner.clientId}`;
    const { key } = (await (
      await service.call("POST", `${path}/keys`, token, { algorithm: "hmac-sha256" })
    ).json()) as {
      key: { id: string };
    };
    const client = (await (await service.call("GET", path, token)).json()) as { secrets: [{ id: string }] };
    const endpoint = (await (
      await service.call("POST", "/v1/webhook-endpoints", token, bodies["createWebhookEndpoint"])
    ).json()) as { id: string };
    const transaction = await service.call("POST", "/v1/transactions", token, bodies["createTransaction"], {
      "idempotency-key": "the-owner's",
    });
    const { id, source } = (await transaction.json()) as { id: string; source: { wallet_id: string } };
    Object.assign(objects, {
      clients: owner.clientId,
      keys: key.id,
      secrets: client.secrets[0].id,
      transactions: id,
      wallets: source.wallet_id,
      "webhook-endpoints": endpoint.id,
      "webhook-deliveries": await firstDelivery(service, token),
    });
  });
  afterAll(() => service.stop());

  const call = (route: Route, token: string | undefined) => {
    if (route.body !== undefined && !Object.hasOwn(bodies, route.operationId)) {
      throw new Error(`the matrix needs a body for ${route.operationId}`);
    }
    const path = route.path.replace(/([\w-]+)\/:\w+/g, (_, collection: string) => {
      const id = objects[collection];
      if (id === undefined) throw new Error(`the matrix needs an object of ${collection}`);
      return `${collection}/${id}`;
    });
    return service.call(
      route.method,
      path,
      token,
      route.body === undefined ? undefined : bodies[route.operationId],
    );
  };
  const codeOf = async (response: Response) => [
    response.status,
    ((await response.json()) as { error?: { code: string } }).error?.code,
  ];

  it("is in the matrix", () => {
    expect(routes.length).toBeGreaterThanOrEqual(9);
    expect(all.filter((route) => route.path.startsWith("/v1/"))).toEqual(routes);
  });

  it.each(named)("%s refuses a request without a token", async (_name, route) => {
    const response = await call(route, undefined);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="bursar"');
    expect(await codeOf(response)).toEqual([401, "UNAUTHENTICATED"]);
  });

  it.each(named)("%s refuses a token with every scope but its own", async (_name, route) => {
    const others = allScopes.filter((scope) => scope !== route.access).join(" ");
    const response = await call(route, await service.token(owner, others));
    expect(response.headers.get("www-authenticate")).toContain(
      `error="insufficient_scope", scope="${route.access}"`,
    );
    expect(await codeOf(response)).toEqual([403, "INSUFFICIENT_SCOPE"]);
  });

  it.each(named.filter(([, route]) => route.path.includes(":")))(
    "%s hides from another tenant",
    async (_name, route) => {
      const response = await call(route, await service.token(stranger, route.access as Scope));
      const foreign = await response.json();
      const missing = await (
        await service.call(
          route.method,
          route.path.replace(
            /([\w-]+)\/:\w+/g,
            (_, collection: string) => `${collection}/${unknownIds[collection] ?? "x"}`,
          ),
          await service.token(stranger),
          route.body === undefined ? undefined : bodies[route.operationId],
        )
      ).json();
      expect(response.status).toBe(404);
      // Foreign and missing look alike, but for the request's own id.
      const shown = ({ error }: { error: { code: string; message: string } }) => [error.code, error.message];
      const sameAsMissing = shown(missing as never);
      if (/^[^:]*:\w+$/.test(route.path)) expect(shown(foreign as never)).toEqual(sameAsMissing);
      else expect(shown(foreign as never)[0]).toMatch(/_NOT_FOUND$/);
    },
  );

  it.each(named.filter(([, route]) => route.method === "GET" && !route.path.includes(":")))(
    "%s shows nothing of another tenant",
    async (_name, route) => {
      const body = await (await call(route, await service.token(stranger))).text();
      for (const id of Object.values(objects)) expect(body).not.toContain(id);
    },
  );
});
