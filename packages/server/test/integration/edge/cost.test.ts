import { readId, type Scope } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { insertClients } from "../../harness/access/insert-clients.js";
import { sendChunked } from "../../harness/http/send-chunked.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { batchOf } from "../../harness/transactions/batch-of.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

/** The number of tokens that a response reports as left. */
const leftOf = (response: Response) => Number(/r=(\d+)/.exec(response.headers.get("ratelimit") ?? "")?.[1]);

describe("the cost of a request", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({
      "quotas.create_per_second": "1",
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

  it("is ten tokens for a wallet on a chain, whose address has to be derived, and one for a wallet of the book", async () => {
    const token = await newToken();
    const left = async (body: object) => leftOf(await service.call("POST", "/v1/wallets", token, body));
    const before = await left({ name: "a", purpose: "treasury" });
    const book = await left({ name: "b", purpose: "treasury", network: "book" });
    const chain = await left({ name: "c", purpose: "treasury", network: "eip155:1" });
    // A token is gained each second in the meantime.
    expect(before - book).toBeLessThanOrEqual(1);
    expect(book - chain).toBeLessThanOrEqual(10);
    expect(book - chain).toBeGreaterThan(5);
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

  /** A policy with three rules, of which one has two limits. */
  const evaluateLimits = (token: string) => {
    const rules = [1, 2, 3].map((hours) => {
      const window = { per: "tenant", period_seconds: hours * 3600 };
      const sum = { ...window, asset: "USD", above: "1000" };
      const when = { count: { ...window, above: 5 }, ...(hours === 1 ? { sum } : {}) };
      return { name: `r${hours}`, when, action: "reject", reason: "no" };
    });
    const transaction = { reference: "r", asset: "USD", amount: "1" };
    const document = { rules, default: { action: "allow" } };
    return service.call("POST", "/v1/policy/evaluate", token, { transaction, document });
  };

  it("grows with the limits of a policy to evaluate, for which the log is read", async () => {
    const evaluated = await evaluateLimits(await newToken());
    // One, 20 for the log, and one for each limit.
    expect([evaluated.status, leftOf(evaluated)]).toEqual([200, 30 - 25]);
  });

  it("grows with the events that the limits of a policy to evaluate are summed over, beyond 4000", async () => {
    const owner = await service.createTenant();
    const tenantId = readId("tnt", owner.tenantId);
    await service.database.query(sql`
      INSERT INTO events (tenant_id, sequence, event, subject_id, version, state, previous_state, occurred_at)
      SELECT ${tenantId}, 1000 + n, 'transaction.updated', gen_random_uuid(), 2, 'failed', 'accepted', now()
      FROM generate_series(1, 8000) AS n`);
    await service.database.query(sql`INSERT INTO event_sequences (tenant_id, sequence) VALUES (${tenantId}, 9000)
      ON CONFLICT (tenant_id) DO UPDATE SET sequence = 9000`);
    const evaluated = await evaluateLimits(await service.token(owner));
    // As above, and four for the events. A token is gained each second in the meantime.
    expect([evaluated.status, leftOf(evaluated) <= 30 - 27]).toEqual([200, true]);
  });

  it("grows with the rows that are read for a response and are not in it", async () => {
    const owner = await service.createTenant();
    const token = await service.token(owner);
    const tenantId = readId("tnt", owner.tenantId);
    const { database } = service;
    await database.query(sql`
      INSERT INTO events (tenant_id, sequence, event, subject_id, version, state, previous_state, occurred_at)
      SELECT ${tenantId}, 1000 + n, 'transaction.updated', gen_random_uuid(), 2, 'failed', 'accepted', now()
      FROM generate_series(1, 10000) AS n`);
    await database.query(sql`INSERT INTO event_sequences (tenant_id, sequence) VALUES (${tenantId}, 11000)
      ON CONFLICT (tenant_id) DO UPDATE SET sequence = 11000`);
    const before = leftOf(await service.call("GET", "/v1/assets", token));
    const filtered = await service.call("GET", "/v1/events?kinds=order.updated", token);
    // One, and two for the 2000 events that are no orders. A token is gained each second in the meantime.
    expect([filtered.status, before - leftOf(filtered) >= 2]).toEqual([200, true]);
    const { id } = await webhooksOf(service, token).registerEndpoint("https://example.com/hook");
    const counted = `/v1/webhook-endpoints/${id}/replay?from_sequence=1`;
    const count = await service.call("GET", counted, token);
    expect([count.status, leftOf(count) <= 30 - 10]).toEqual([200, true]);
  });

  it("grows with the deliveries that are sent again, by one for each", async () => {
    const owner = await service.createTenant();
    const token = await service.token(owner);
    const tenantId = readId("tnt", owner.tenantId);
    const { id } = await webhooksOf(service, token).registerEndpoint("https://example.com/hook");
    await service.database.query(sql`
      INSERT INTO events (tenant_id, sequence, event, subject_id, version, state, previous_state, occurred_at)
      SELECT ${tenantId}, 1000 + n, 'transaction.updated', gen_random_uuid(), 2, 'failed', 'accepted', now()
      FROM generate_series(1, 60) AS n`);
    await service.database.query(sql`INSERT INTO event_sequences (tenant_id, sequence) VALUES (${tenantId}, 1060)
      ON CONFLICT (tenant_id) DO UPDATE SET sequence = 1060`);
    const body = { endpoint_id: id, from_sequence: 1001, limit: 60 };
    const answer = await service.call("POST", "/v1/webhook-deliveries/replay", token, body);
    expect(await answer.json()).toMatchObject({ resent: 60 });
    // It has cost 67, of 30.
    expect((await service.call("GET", `/v1/webhook-endpoints/${id}`, token)).status).toBe(429);
  });

  it("grows with the policy that a decision is about, also if the decision is refused", async () => {
    const owner = await service.createTenant();
    const keeps: Scope[] = ["policies:read", "policies:manage"];
    const anna = await service.createIndependentClient(owner, keeps, "anna");
    const ben = await service.createIndependentClient(owner, keeps, "ben");
    const changes = { approvals: 1, from: { clients: [anna.clientId, ben.clientId] } };
    const replace = (rules: object[], action: object, version: number) =>
      service.call(
        "PUT",
        "/v1/policy",
        anna.token,
        { rules, default: action, changes },
        {
          "if-match": `"${version}"`,
        },
      );
    expect((await replace([], { action: "reject", reason: "Closed." }, 0)).status).toBe(200);
    const when = { kind: "order" };
    const rules = Array.from({ length: 50 }, (_, index) => ({ name: `r${index}`, when, action: "allow" }));
    const asked = await replace(rules, { action: "allow" }, 1);
    expect(asked.status).toBe(202);
    const { id } = (await asked.json()) as { id: string };
    const stale = await service.call("POST", `/v1/change-requests/${id}/approve`, ben.token, {
      digest: "0".repeat(64),
    });
    // One, 8 to put a policy in force, and 10 for its rules. A token can be gained in between.
    expect(stale.status).toBe(409);
    expect(leftOf(stale)).toBeLessThanOrEqual(30 - 19 + 1);
    const cancelled = await service.call("POST", `/v1/change-requests/${id}/cancel`, ben.token);
    expect([cancelled.status, leftOf(cancelled)]).toEqual([403, 0]);
  });

  it("grows with the limits in force, by which each payment is judged", async () => {
    const token = await newToken();
    const rules = Array.from({ length: 20 }, (_, index) => ({
      name: `r${index}`,
      when: { count: { per: "tenant", period_seconds: 3600 + 60 * index, above: 100_000 } },
      action: "reject",
      reason: "no",
    }));
    const document = { rules, default: { action: "allow" } };
    const replaced = await service.call("PUT", "/v1/policy", token, document, { "if-match": '"0"' });
    expect(replaced.status).toBe(200);
    // The first batch brings the policy to memory.
    await service.call("POST", "/v1/transactions/batch", token, batchOf(1));
    const body = batchOf(100);
    const batch = await service.call("POST", "/v1/transactions/batch", token, body);
    // Each item counts as one, and as one more for each ten limits.
    const cost = 1 + Math.floor(Buffer.byteLength(JSON.stringify(body)) / 8192) + 30;
    expect(batch.status).toBe(202);
    // A token is gained each second in the meantime.
    expect(leftOf(batch)).toBeGreaterThanOrEqual(299 - cost);
    expect(leftOf(batch)).toBeLessThan(299 - cost + 10);
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
