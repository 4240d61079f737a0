import { randomUUID } from "node:crypto";
import { request as send } from "node:http";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { insertClients } from "../../harness/access/insert-clients.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { policyOf } from "../../harness/transactions/policy-client.js";

/** A batch of items that all have a fault, or that policy rejects. */
const batchOf = (count: number, more: object = {}) => ({
  transactions: Array.from({ length: count }, () => ({
    idempotency_key: randomUUID(),
    reference: "cost",
    asset: "USD",
    amount: "1",
    ...more,
  })),
});

/** The number of tokens that a response reports as left. */
const leftOf = (response: Response) => Number(/r=(\d+)/.exec(response.headers.get("ratelimit") ?? "")?.[1]);

describe("the cost of a request", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({
      "quotas.bulk_per_second": "1",
      "quotas.bulk_burst": "300",
      "quotas.manage_per_second": "1",
      "quotas.manage_burst": "30",
      "quotas.read_per_second": "1",
      "quotas.read_burst": "20",
      "limits.clients_per_tenant": "4",
    });
  });
  afterAll(() => service.stop());
  const newToken = async () => await service.token(await service.createTenant());

  it("grows with the items and the size of a batch, and the headers say so", async () => {
    const token = await newToken();
    const small = await service.call("POST", "/v1/transactions/batch", token, batchOf(9));
    expect([small.status, leftOf(small)]).toEqual([202, 299]);
    const body = batchOf(1000);
    const bytes = Buffer.byteLength(JSON.stringify(body));
    const large = await service.call("POST", "/v1/transactions/batch", token, body);
    const cost = 1 + Math.floor(bytes / 8192) + 100;
    expect(large.status).toBe(202);
    // A token is gained each second in the meantime.
    expect(leftOf(large)).toBeGreaterThanOrEqual(299 - cost);
    expect(leftOf(large)).toBeLessThan(299 - cost / 2);
  });

  it("can be more than is left, and is then repaid before anything else is admitted", async () => {
    const token = await newToken();
    const statuses: number[] = [];
    let last: Response | undefined;
    for (let count = 0; count < 5; count++) {
      last = await service.call("POST", "/v1/transactions/batch", token, batchOf(1000));
      statuses.push(last.status);
    }
    expect(statuses).toEqual([202, 202, 202, 429, 429]);
    // Three cost about 340 of 300 tokens, and one is gained each second.
    expect(Number(last?.headers.get("retry-after"))).toBeGreaterThan(20);
    expect(leftOf(last as Response)).toBe(0);
  });

  it("is charged for a body that does not declare its length", async () => {
    const token = await newToken();
    const { headers, status } = await sendChunked(service.url, "/v1/policy/evaluate", token, {
      transaction: { reference: "r", asset: "USD", amount: "1" },
      document: { rules: [], default: { action: "reject", reason: "x" }, padding: "x".repeat(100_000) },
    });
    expect([status, /r=(\d+)/.exec(headers)?.[1]]).toEqual([422, "17"]);
  });

  it("grows with the rules of a policy, which are compiled and compared", async () => {
    const token = await newToken();
    const rule = (index: number) => ({
      name: `r${index}`,
      when: { kind: "order" },
      action: "reject",
      reason: "no",
    });
    const document = {
      rules: Array.from({ length: 50 }, (_, index) => rule(index)),
      default: { action: "allow" },
    };
    const evaluated = await service.call("POST", "/v1/policy/evaluate", token, {
      transaction: { reference: "r", asset: "USD", amount: "1" },
      document,
    });
    expect([evaluated.status, leftOf(evaluated)]).toEqual([200, 19]);
    const replaced = await service.call("PUT", "/v1/policy", token, document, { "if-match": '"0"' });
    expect(replaced.status).toBe(200);
    // A token can be gained in between.
    expect(leftOf(replaced)).toBeLessThanOrEqual(2);
  });

  it("grows with the clients that are listed, whose MACs are verified, and with the size of a page", async () => {
    const owner = await service.createTenant();
    await insertClients(service, owner, 99, () => []);
    const answer = await service.call("GET", "/v1/clients?limit=100", await service.token(owner));
    const bytes = Buffer.byteLength(await answer.clone().text());
    expect(answer.status).toBe(200);
    const cost = 1 + 100 / 5 + Math.floor(bytes / 8192);
    // A token is gained each second in the meantime.
    expect(leftOf(answer)).toBeLessThanOrEqual(30 - cost + 3);
    expect(bytes).toBeGreaterThan(8192);
  });

  it("is that of the whole answer, also if only its headers are asked for", async () => {
    const token = await newToken();
    await service.call("POST", "/v1/transactions/batch", token, batchOf(100, { reference: "r".repeat(64) }));
    const path = "/v1/transactions?limit=100";
    const before = await service.call("HEAD", path, token);
    const bytes = Number(before.headers.get("content-length"));
    expect(Math.floor(bytes / 8192)).toBeGreaterThan(4);
    // A token can be gained in between.
    const left = leftOf(await service.call("HEAD", path, token));
    expect(left).toBeLessThanOrEqual(20 - 2 * Math.floor(bytes / 8192));
  });

  it("is limited for all clients of a tenant together", async () => {
    const owner = await service.createTenant();
    const first = await service.token(owner);
    const tokens = [first];
    for (const name of ["second", "third"]) {
      const made = await service.call("POST", "/v1/clients", first, { name, scopes: ["transactions:read"] });
      const { id, secret } = (await made.json()) as { id: string; secret: string };
      tokens.push(await service.token({ clientId: id, secret }));
    }
    let admitted = 0;
    let refusal: Response | undefined;
    for (const token of tokens) {
      for (let count = 0; count < 25; count++) {
        const response = await service.call("GET", "/v1/assets", token);
        if (response.status === 200) admitted += 1;
        else refusal = response;
      }
    }
    // Twice the quota of a client, and what is gained in the meantime.
    expect(admitted).toBeGreaterThanOrEqual(40);
    expect(admitted).toBeLessThan(55);
    expect(refusal?.status).toBe(429);
    expect(refusal?.headers.get("ratelimit")).toContain('"tenant-read";r=0');
  });

  it("cannot be spread over any number of clients", async () => {
    const owner = await service.createTenant();
    const token = await service.token(owner);
    const create = (key: string) =>
      service.call("POST", "/v1/clients", token, { name: key, scopes: [] }, { "idempotency-key": key });
    const answers = await Promise.all(["a", "b", "c", "d", "e"].map(create));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(await refused?.json()).toMatchObject({ error: { code: "CLIENT_LIMIT_REACHED" } });
    // What was created once is found again.
    const created = ["a", "b", "c", "d", "e"][answers.findIndex(({ status }) => status === 201)] as string;
    expect((await create(created)).status).toBe(201);
    // The operator can always add a client: one that has filled its tenant must not keep it out.
    expect((await service.createIndependentClient(owner, ["clients:manage"])).token).not.toBe("");
    expect((await create("f")).status).toBe(409);
  });
});

describe("a large request", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ "limits.heavy_requests_per_tenant": "2" });
  });
  afterAll(() => service.stop());
  const newToken = async () => await service.token(await service.createTenant());

  it.each([
    [
      "a batch of 1000 invalid items",
      (): [string, unknown] => ["/v1/transactions/batch", batchOf(1000, { asset: "?" })],
    ],
    ["a batch of 1000 items that policy rejects", () => ["/v1/transactions/batch", batchOf(1000)]],
  ] as [string, () => [string, unknown]][])(
    "lets small ones pass while it is served: %s",
    async (_what, make) => {
      const owner = await service.createTenant();
      const token = await service.token(owner);
      const policy = policyOf(service, token);
      await policy.replace({ rules: [], default: { action: "reject", reason: "closed" } });
      const [path, body] = make();
      let isAnswered = false;
      const large = service.call("POST", path, token, body).then((response) => {
        isAnswered = true;
        return response;
      });
      let meanwhile = 0;
      while (!isAnswered) {
        const small = await fetch(`${service.url}/healthz`);
        await small.arrayBuffer();
        if (!isAnswered) meanwhile += 1;
      }
      const { data } = (await (await large).json()) as { data: { status: string }[] };
      expect(data.every(({ status }) => status === "error")).toBe(true);
      // It takes 40 slices, and each small request takes a few turns of the event loop.
      expect(meanwhile).toBeGreaterThanOrEqual(5);
    },
  );

  it("lets small ones pass while the largest policy is evaluated beside a batch of refused items", async () => {
    const token = await newToken();
    const policy = policyOf(service, token);
    await policy.replace({ rules: [], default: { action: "reject", reason: "closed" } });
    const evaluation = {
      transaction: { reference: "r", asset: "USD", amount: "1" },
      document: await largestPolicy(service, token),
    };
    const inProgress = new Set<Promise<number>>();
    const start = (path: string, body: unknown) => {
      const answered = service.call("POST", path, token, body).then(async (response) => {
        await response.arrayBuffer();
        inProgress.delete(answered);
        return response.status;
      });
      inProgress.add(answered);
      return answered;
    };
    const large = [start("/v1/policy/evaluate", evaluation), start("/v1/transactions/batch", batchOf(1000))];
    let meanwhile = 0;
    while (inProgress.size > 0) {
      await (await fetch(`${service.url}/healthz`)).arrayBuffer();
      if (inProgress.size > 0) meanwhile += 1;
    }
    expect(await Promise.all(large)).toEqual([200, 202]);
    expect(meanwhile).toBeGreaterThanOrEqual(5);
  });

  it("is every replacement of the policy, although its document is small", async () => {
    const owner = await service.createTenant();
    const token = await service.token(owner);
    const document = { rules: [], default: { action: "allow" } };
    const replace = () =>
      service.call("PUT", "/v1/policy", token, document, { "if-match": '"0"' }).then(({ status }) => status);
    let replaced: Promise<number>[] = [];
    const first = await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM tenants WHERE id = ${readId("tnt", owner.tenantId)} FOR UPDATE`);
      // Two wait for the row, 50 for these two, and the others are refused.
      replaced = Array.from({ length: 54 }, replace);
      return await Promise.race(replaced);
    });
    expect(first).toBe(429);
    const statuses = await Promise.all(replaced);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });

  it("waits until at most one other of its tenant is in progress, and those of other tenants do not", async () => {
    await service.database.run(`
      CREATE FUNCTION slow_down() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_sleep(0.1); RETURN NULL; END $$;
      CREATE TRIGGER slow AFTER INSERT ON transactions FOR EACH STATEMENT EXECUTE FUNCTION slow_down();
    `);
    const tokens = [await newToken(), await newToken()] as const;
    const finished: string[] = [];
    const start = (who: string, token: string) =>
      service.call("POST", "/v1/transactions/batch", token, batchOf(250)).then((response) => {
        finished.push(who);
        return response.status;
      });
    const greedy = Array.from({ length: 4 }, () => start("greedy", tokens[0]));
    const statuses = await Promise.all([...greedy, start("other", tokens[1])]);
    expect(new Set(statuses)).toEqual(new Set([202]));
    expect(finished.at(-1)).toBe("greedy");
  });
});

/** A policy of almost 2000 references and 200 rules, none of which matches, so that all are evaluated. */
async function largestPolicy(service: TestService, token: string) {
  const wallets: string[] = [];
  for (let count = 0; count < 9; count++) {
    const made = await service.call("POST", "/v1/wallets", token, { name: `w${count}`, purpose: "payout" });
    wallets.push(((await made.json()) as { id: string }).id);
  }
  const rules = Array.from({ length: 200 }, (_, index) => ({
    name: `rule-${index}`,
    when: { source_wallets: wallets, amount: { asset: "USD", min: String(100_000 + index) } },
    action: "reject",
    reason: "x".repeat(256),
  }));
  return { rules, default: { action: "allow" } };
}

/** Sends a body in chunks, as a client does that does not know its length. */
function sendChunked(url: string, path: string, token: string, body: unknown) {
  return new Promise<{ status: number | undefined; headers: string }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const request = send(`${url}${path}`, { method: "POST", headers }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, headers: String(response.headers["ratelimit"]) });
    });
    request.on("error", reject);
    const text = JSON.stringify(body);
    // Two writes, so that Node does not add the length.
    request.write(text.slice(0, 10));
    request.end(text.slice(10));
  });
}
