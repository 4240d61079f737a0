import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startFakeService } from "./harness/fake-service.js";
import { createRunner } from "./harness/run.js";

const rule = { name: "small", when: {}, action: "allow" };
const document = { rules: [rule] };
const stricter = { rules: [{ ...rule, action: "reject" }] };

/** The commands that decide what may be done: the policy, destinations, clients and endpoints. */
describe("commands that change who may do what", () => {
  let service: Awaited<ReturnType<typeof startFakeService>>;
  let cli: ReturnType<typeof createRunner>;
  let file: string;
  beforeAll(async () => {
    const client = {
      object: "client",
      id: "cli_2",
      name: "shop",
      state: "active",
      scopes: ["a"],
      created_at: "now",
    };
    service = await startFakeService({
      "GET /v1/policy": {
        body: { object: "policy", version: 3, document },
        headers: { etag: '"3"' },
      },
      "PUT /v1/policy": ({ body }) => ({
        body: body.includes("wait")
          ? { object: "change_request", id: "chg_1", required: 2, state: "pending" }
          : { object: "policy", version: 4, document: JSON.parse(body) },
      }),
      "POST /v1/policy/evaluate": { body: { object: "policy_evaluation", action: "allow", rule: "small" } },
      "GET /v1/policy/versions": {
        body: { data: [{ version: 3, created_by: "cli_1", created_at: "now" }], next_cursor: null },
      },
      "GET /v1/destinations": {
        body: {
          data: [{ id: "dst_1", state: "active", label: "bank", network: "eip155:1", address: "0xabc" }],
          next_cursor: null,
        },
      },
      "GET /v1/destinations/dst_1": { body: { id: "dst_1", state: "active" } },
      "POST /v1/destinations": { status: 201, body: { id: "dst_2", state: "waiting" } },
      "DELETE /v1/destinations/dst_1": { status: 200, body: { id: "dst_1", state: "removed" } },
      "GET /v1/clients": { body: { data: [client], next_cursor: null } },
      "GET /v1/clients/cli_2": { body: client },
      "PATCH /v1/clients/cli_2": ({ body }) => ({ body: { ...client, ...JSON.parse(body) } }),
      "POST /v1/clients": { status: 201, body: { ...client, client_secret: "bsk_shown-once" } },
      "POST /v1/clients/cli_2/secrets": { status: 201, body: { client_secret: "bsk_new" } },
      "POST /v1/webhook-endpoints": {
        status: 201,
        body: { id: "whe_1", state: "pending", secret: "whsec_x" },
      },
      "POST /v1/webhook-endpoints/whe_1/verify": { body: { verified: true, error: null } },
      "POST /v1/webhook-endpoints/whe_2/verify": { body: { verified: false, error: "answered 404" } },
      "POST /v1/webhook-endpoints/whe_1/test": { body: { delivered: false, status: 500 } },
      "POST /v1/webhook-deliveries/resend-failed": { body: { resent: 1000, has_more: true } },
    });
    cli = createRunner(service.url);
    file = join(cli.folder, "policy.json");
  });
  afterAll(() => service.close());
  beforeEach(() => service.requests.splice(0));
  const sent = () =>
    service.requests
      .filter(({ method }) => method !== "GET")
      .map(({ method, path, body }) => `${method} ${path} ${body}`.trimEnd());

  it("policy get prints the document alone", async () => {
    const { out, err } = await cli.run(["policy", "get"]);
    expect([JSON.parse(out), err]).toEqual([document, "version 3\n"]);
    await cli.run(["policy", "get", "--version", "2"]);
    expect(service.requests.at(-1)?.path).toBe("/v1/policy?version=2");
    expect((await cli.run(["policy", "versions"])).out).toBe("3\tcli_1\tnow\n");
  });

  it("policy diff shows what differs, and exits with 1; the order of members does not matter", async () => {
    writeFileSync(file, JSON.stringify({ rules: [{ action: "allow", when: {}, name: "small" }] }));
    expect(await cli.run(["policy", "diff", file])).toMatchObject({ code: 0, out: "" });
    const differs = await cli.run(["policy", "diff", "-"], { input: JSON.stringify(stricter) });
    expect(differs.code).toBe(1);
    expect(differs.out).toContain('-       "action": "allow",\n+       "action": "reject",\n');
    expect(await cli.run(["policy", "diff", "-"], { input: "not\njson" })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^bursar: The standard input cannot be read as JSON: [^\\]*\n$/),
    });
    expect((await cli.run(["policy", "diff", "/nonexistent.json"])).code).toBe(2);
    expect(sent()).toEqual([]);
  });

  it("policy put shows the difference, asks, and sends the version that was read", async () => {
    writeFileSync(file, JSON.stringify(stricter));
    const declined = await cli.run(["policy", "put", file], {
      terminal: true,
      answers: ["n"],
      env: { NO_COLOR: "1" },
    });
    expect(declined).toMatchObject({ code: 1, err: expect.stringContaining('+       "action": "reject"') });
    expect(sent()).toEqual([]);
    const put = await cli.run(["policy", "put", file]);
    expect(put).toMatchObject({ code: 0, out: expect.stringContaining("version\t4\n") });
    expect(service.requests.at(-1)?.headers["if-match"]).toBe('"3"');
    const same = await cli.run(["policy", "put", "-"], { input: JSON.stringify(document) });
    expect(same).toMatchObject({ code: 0, err: "The document is the one in force; nothing was sent.\n" });
    const waits = await cli.run(["policy", "put", "-"], { input: '{"rules":[],"name":"wait"}' });
    expect(waits.err).toContain("It must be approved first: chg_1 needs 2 approvals.\n");
  });

  it("policy evaluate sends a payment that is not created", async () => {
    writeFileSync(file, JSON.stringify(stricter));
    const args = ["policy", "evaluate", "5", "USD", "--from", "wlt_1", "--as", "cli_2", "--policy", file];
    expect((await cli.run(args)).out).toBe("action\tallow\nrule\tsmall\n");
    expect(JSON.parse(service.requests.at(-1)?.body ?? "")).toEqual({
      transaction: { reference: "evaluation", amount: "5", asset: "USD", source: { wallet_id: "wlt_1" } },
      client_id: "cli_2",
      document: stricter,
    });
  });

  it("destinations are listed, added after a question, and removed", async () => {
    expect((await cli.run(["destinations", "list"])).out).toBe("dst_1\tactive\tbank\teip155:1\t0xabc\t-\n");
    expect((await cli.run(["destinations", "get", "dst_1"])).code).toBe(0);
    const add = ["destinations", "add", "eip155:1", "0xdef", "--label", "new", "--idempotency-key", "k-1"];
    expect((await cli.run(add, { terminal: true, answers: ["n"] })).code).toBe(1);
    expect(sent()).toEqual([]);
    expect((await cli.run(add)).out).toContain("state\twaiting\n");
    expect((await cli.run(["destinations", "remove", "dst_1"])).code).toBe(0);
    expect(sent()).toEqual([
      'POST /v1/destinations {"network":"eip155:1","address":"0xdef","label":"new"}',
      "DELETE /v1/destinations/dst_1",
    ]);
  });

  it("clients are listed, created, disabled, enabled and given a new secret", async () => {
    expect((await cli.run(["clients", "list"])).out).toBe("cli_2\tshop\tactive\ta\tnow\n");
    expect((await cli.run(["clients", "get", "cli_2"])).out).toContain("name\tshop\n");
    const created = await cli.run(["clients", "create", "shop", "--scope", "a", "--scope", "b"]);
    expect(created.out).toContain("client_secret\tbsk_shown-once\n");
    expect(created.err).toMatch(/^The idempotency key is \S+\.\n$/);
    expect((await cli.run(["clients", "disable", "cli_2"])).out).toContain("state\tdisabled\n");
    expect((await cli.run(["clients", "enable", "cli_2"])).out).toContain("state\tactive\n");
    expect((await cli.run(["clients", "rotate-secret", "cli_2"])).out).toBe("client_secret\tbsk_new\n");
    expect((await cli.run(["clients", "create", "shop"])).err).toBe("bursar: --scope is missing.\n");
    expect(sent().slice(0, 3)).toEqual([
      'POST /v1/clients {"name":"shop","scopes":["a","b"]}',
      'PATCH /v1/clients/cli_2 {"state":"disabled"}',
      'PATCH /v1/clients/cli_2 {"state":"active"}',
    ]);
  });

  it("an endpoint that was added says how it is verified", async () => {
    const added = await cli.run(["webhooks", "add", "https://shop.example/hooks"]);
    expect(added.err).toContain("run `bursar webhooks verify whe_1`.\n");
    expect(added.out).toContain("secret\twhsec_x\n");
    expect(await cli.run(["webhooks", "verify", "whe_1"])).toMatchObject({
      code: 0,
      out: "verified\tyes\nerror\t-\n",
    });
    expect(await cli.run(["webhooks", "verify", "whe_2"])).toMatchObject({ code: 1 });
    expect(await cli.run(["webhooks", "test", "whe_1"])).toMatchObject({ code: 1 });
  });

  it("all failed deliveries are sent again without naming an endpoint", async () => {
    const all = await cli.run(["webhooks", "resend", "--failed"]);
    expect(all).toMatchObject({ code: 0, err: expect.stringContaining("There are more") });
    await cli.run(["webhooks", "resend", "--failed", "--endpoint-id", "whe_1"]);
    expect(sent()).toEqual([
      'POST /v1/webhook-deliveries/resend-failed {"limit":1000}',
      'POST /v1/webhook-deliveries/resend-failed {"limit":1000,"endpoint_id":"whe_1"}',
    ]);
    expect((await cli.run(["webhooks", "resend"])).code).toBe(2);
  });
});
