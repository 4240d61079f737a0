import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

const largestLength = "9007199254740991";
const evaluation = { transaction: { reference: "r", asset: "USD", amount: "1" } };
/** More than 16 KiB, so that it is a heavy request. */
const heavyEvaluation = {
  ...evaluation,
  document: {
    rules: Array.from({ length: 100 }, (_, index) => ({
      name: `rule-${index}`,
      when: { amount: { asset: "USD", min: String(1000 + index) } },
      action: "reject",
      reason: "x".repeat(200),
    })),
    default: { action: "allow" },
  },
};

describe("a declared body that is not sent", () => {
  let service: TestService;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    service = await startTestService();
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => service.stop());

  /** The tokens of a tenant's administrator, and of other clients with these scopes. */
  async function setUp(...scopesOf: string[][]) {
    const admin = await service.token(await service.createTenant());
    const others: string[] = [];
    for (const [index, scopes] of scopesOf.entries()) {
      const made = await service.call("POST", "/v1/clients", admin, { name: `client ${index}`, scopes });
      expect(made.status).toBe(201);
      const { id, secret } = (await made.json()) as { id: string; secret: string };
      others.push(await service.token({ clientId: id, secret }));
    }
    return { admin, others };
  }

  /** Sends the head of a request, and the beginning of its body. */
  async function sendHead(token: string, method: string, path: string, length: string, begin = "") {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    socket.setEncoding("latin1");
    sockets.push(socket);
    await once(socket, "connect");
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\nIf-Match: "0"\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${begin}`,
    );
    return socket;
  }

  async function statusOf(token: string, method: string, path: string, length: string): Promise<number> {
    const socket = await sendHead(token, method, path, length);
    const [answer] = (await once(socket, "data")) as [string];
    return Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]);
  }

  it.each([
    ["PUT", "/v1/policy", "GET", "/v1/clients"],
    ["POST", "/v1/transactions/tx_01hw000000e008000000000001/approvals", "POST", "/v1/wallets"],
    ["POST", "/v1/transactions/batch", "POST", "/v1/transactions/batch"],
    ["POST", "/v1/stream/tickets", "POST", "/v1/stream/tickets"],
    ["GET", "/v1/wallets", "GET", "/v1/wallets"],
  ])("does not lock the tenant out, however long it claims to be: %s %s", async (method, path, m, p) => {
    const {
      admin,
      others: [nobody = ""],
    } = await setUp(["wallets:read"]);
    expect([200, 403, 413]).toContain(await statusOf(nobody, method, path, largestLength));
    const body = m === "POST" ? { name: "w", purpose: "payout" } : undefined;
    for (const token of [admin, nobody]) {
      const answer = await service.call(m, p, token, body);
      expect(answer.status).not.toBe(429);
      expect(answer.headers.get("ratelimit")).not.toContain("r=0");
    }
  });

  it("is refused beyond the limit of its route, and costs one token", async () => {
    const { admin } = await setUp();
    expect(await statusOf(admin, "PUT", "/v1/policy", largestLength)).toBe(413);
    const answer = await service.call("GET", "/v1/policy", admin);
    expect(leftOf(answer)).toBeGreaterThanOrEqual(495);
  });

  it("costs one token within the limit of its route, although three clients send only heads", async () => {
    const scopes = ["policies:read"];
    const { admin, others } = await setUp(scopes, scopes, scopes);
    for (let round = 0; round < 15; round++)
      await Promise.all(others.map((token) => sendHead(token, "POST", "/v1/policy/evaluate", "262144", "{")));
    for (const token of [admin, ...others]) {
      const answer = await service.call("GET", "/v1/policy", token);
      expect(answer.status).toBe(200);
      expect(leftOf(answer)).toBeGreaterThan(400);
    }
  });

  it("costs its size once it has arrived, although it is not valid JSON", async () => {
    const { admin } = await setUp();
    const answer = await fetch(`${service.url}/v1/policy/evaluate`, {
      method: "POST",
      headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
      body: `{${" ".repeat(250_000)}`,
    });
    expect(answer.status).toBe(400);
    expect(leftOf(answer)).toBeLessThan(475);
  });

  it("does not keep the heavy requests of the tenant's other clients waiting", async () => {
    const {
      admin,
      others: [reader = ""],
    } = await setUp(["policies:read"]);
    for (let count = 0; count < 8; count++)
      await sendHead(reader, "POST", "/v1/policy/evaluate", "20000", "{");
    const answers = await Promise.all(
      [1, 2, 3].map(() => service.call("POST", "/v1/policy/evaluate", admin, heavyEvaluation)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("delays the heavy requests of its own client, until it is given up", async () => {
    const {
      others: [reader = ""],
    } = await setUp(["policies:read"]);
    for (let count = 0; count < 2; count++)
      await sendHead(reader, "POST", "/v1/policy/evaluate", "20000", "{");
    const evaluate = () => service.call("POST", "/v1/policy/evaluate", reader, heavyEvaluation);
    const late = await eventually(evaluate, ({ status }) => status !== 200);
    expect(late.status).toBe(429);
    expect(await late.json()).toMatchObject({
      error: { code: "CONCURRENCY_LIMITED", message: "This client has too many large requests in progress." },
    });
    const waiting = [evaluate(), evaluate(), evaluate()];
    for (const socket of sockets.splice(0)) socket.destroy();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("leaves no debt of years, not even one that was stored before", async () => {
    const owner = await service.createTenant();
    // At a time to come, so that the bucket gains nothing before the request.
    await service.database.query(sql`
      INSERT INTO quota_buckets (tenant_id, client_id, class, tokens, at_ms)
      SELECT tenant_id, '00000000-0000-0000-0000-000000000000', 'read', -1099511625774,
        extract(epoch FROM clock_timestamp()) * 1000 + 60000
      FROM clients WHERE id = ${owner.client.id}
    `);
    const refused = await service.call("GET", "/v1/assets", await service.token(owner));
    expect(refused.status).toBe(429);
    // The tenant's burst of 4000 at 2000 a second.
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(3);
  });
});

/** The smallest number of tokens that a response reports as left, of the client or its tenant. */
function leftOf(response: Response): number {
  const reported = response.headers.get("ratelimit") ?? "";
  return Math.min(...[...reported.matchAll(/r=(\d+)/g)].map(([, left]) => Number(left)));
}
