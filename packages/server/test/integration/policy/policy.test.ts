import { defaultPolicy } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import type { BlackBoxService, TestClient } from "../../harness/service/test-service.js";
import { policyOf } from "../../harness/transactions/policy-client.js";

const service = await inspectSharedService();

const nobody = showId("cli", "018e0000-0000-7000-8000-000000000001");
const nowhere = showId("wlt", "018e0000-0000-7000-8000-000000000001");
const reject = (reason: string) => ({ rules: [], default: { action: "reject", reason } });

describe("the policy of a tenant", () => {
  let owner: TestClient;
  let token: string;
  let policy: ReturnType<typeof policyOf>;
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
    policy = policyOf(service, token);
  });

  const faultsOf = async (document: unknown) => {
    const { status, body } = await policy.write(document, '"0"');
    expect([status, body.error?.code]).toEqual([422, "POLICY_INVALID"]);
    return body.error?.details ?? [];
  };

  it("starts at version 0, which allows transfers to its own wallets and to listed addresses", async () => {
    const { status, headers, body } = await policy.read();
    expect([status, headers.get("etag")]).toEqual([200, '"0"']);
    expect(body).toEqual({ object: "policy", version: 0, document: defaultPolicy, updated_at: null });
    const again = (tag: string) =>
      service.call("GET", "/v1/policy", token, undefined, { "if-none-match": tag });
    expect([(await again('"0"')).status, (await again('"1"')).status]).toEqual([304, 200]);
  });

  it("is replaced as a whole, and every version is stored with its author", async () => {
    const texts = ["first", "second", "third"];
    for (const [index, text] of texts.entries()) {
      const written = await policy.write(reject(text), `"${index}"`);
      expect([written.status, written.headers.get("etag")]).toEqual([200, `"${index + 1}"`]);
      expect(written.body).toMatchObject({ version: index + 1, document: reject(text) });
      expect((await policy.read()).body).toEqual(written.body);
    }
    for (const [index, text] of texts.entries()) {
      const { headers, body } = await policy.read(`?version=${index + 1}`);
      expect([headers.get("etag"), body.document]).toEqual([`"${index + 1}"`, reject(text)]);
    }
    expect((await policy.read("?version=0")).body.document).toEqual(defaultPolicy);
    const first = await policy.send("GET", "/v1/policy/versions?limit=2");
    const { data, next_cursor: cursor } = first.body as unknown as {
      data: { version: number; created_by: string }[];
      next_cursor: string;
    };
    expect(data).toMatchObject([
      { object: "policy_version", version: 3, created_by: owner.clientId },
      { version: 2 },
    ]);
    const last = await policy.send("GET", `/v1/policy/versions?limit=2&cursor=${cursor}`);
    expect(last.body).toMatchObject({ data: [{ version: 1 }], next_cursor: null });
  });

  it.each(["4", "2147483647"])("has no version %s", async (version) => {
    const { status, body } = await policy.read(`?version=${version}`);
    expect([status, body.error?.code]).toEqual([404, "POLICY_VERSION_NOT_FOUND"]);
  });

  it.each(["-1", "1.5", "x", "2147483648"])("refuses the malformed version %s", async (version) => {
    expect((await policy.read(`?version=${version}`)).status).toBe(400);
  });

  it("is changed by only one of many concurrent requests with the same version", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => policy.write(reject(`editor ${index}`), '"0"')),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const { status, body } of answers.filter((answer) => answer !== won[0])) {
      expect([status, body.error?.code]).toEqual([412, "PRECONDITION_FAILED"]);
    }
    expect((await policy.read()).body).toEqual(won[0]?.body);
  });

  it.each(['"1"', '"7"', 'W/"0"', "0", '"00"', '"x"', '"0", "1"', '"99999999999999"'])(
    "is not changed with If-Match %s",
    async (ifMatch) => {
      const { status, body } = await policy.write(reject("no"), ifMatch);
      expect([status, body.error?.code]).toEqual([412, "PRECONDITION_FAILED"]);
      expect((await policy.read()).body.version).toBe(0);
    },
  );

  it("is not changed without If-Match", async () => {
    for (const headers of [{}, { "if-match": "*" }] as Record<string, string>[]) {
      const { status, body } = await policy.send("PUT", "/v1/policy", reject("no"), headers);
      expect([status, body.error?.code]).toEqual([428, "PRECONDITION_REQUIRED"]);
    }
  });

  it("reports the rule and the field of every fault together", async () => {
    const faults = await faultsOf({
      rules: [
        { name: "too-precise", when: { amount: { asset: "USD", max: "1.001" } }, action: "allow" },
        { name: "no-reason", when: {}, action: "reject" },
        { name: "odd", when: { assets: ["DOGE"], colour: "red" }, action: "allow" },
        { name: "Not A Name", when: {}, action: "allow" },
      ],
      default: { action: "shrug" },
    });
    expect(faults).toEqual([
      {
        path: "body.rules.0.when.amount.max",
        rule: "too-precise",
        reason: "has more than the 2 decimals of USD",
      },
      { path: "body.rules.1.reason", rule: "no-reason", reason: "is required" },
      { path: "body.rules.2.when.colour", rule: "odd", reason: "is not a known field" },
      { path: "body.rules.2.when.assets.0", rule: "odd", reason: "is not a known asset" },
      { path: "body.rules.3.name", reason: "must be 1 to 64 characters of a-z, 0-9 and -" },
      { path: "body.default.action", reason: "must be one of allow, reject, require_approval" },
    ]);
  });

  it("can name only wallets and clients of its own tenant", async () => {
    const stranger = await service.createTenant();
    const document = (wallet: string, client: string, member: string) => ({
      groups: { officers: [member] },
      rules: [
        { name: "mine", when: { source_wallets: [wallet], clients: [client] }, action: "allow" },
        {
          name: "theirs",
          when: {},
          action: "require_approval",
          approvals: 1,
          from: { groups: ["officers"] },
        },
      ],
      default: { action: "allow" },
    });
    expect(await faultsOf(document(nowhere, stranger.clientId, nobody))).toEqual([
      {
        path: "body.rules.0.when.source_wallets.0",
        rule: "mine",
        reason: "is not a wallet of this tenant",
      },
      { path: "body.groups.officers.0", reason: "is not a client of this tenant" },
      { path: "body.rules.0.when.clients.0", rule: "mine", reason: "is not a client of this tenant" },
    ]);
    const wallets = await service.call("GET", "/v1/wallets", token);
    const { data } = (await wallets.json()) as { data: { id: string }[] };
    const own = document(data[0]?.id ?? "", owner.clientId, owner.clientId);
    expect((await policy.write(own, '"0"')).body.document).toEqual(own);
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", "null"],
    ["a list", []],
    ["a string", '"policy"'],
    ["an empty object", {}],
    ["rules that are an object", { rules: { length: 1 }, default: { action: "allow" } }],
    ["too many rules", { rules: Array(201).fill({}), default: { action: "allow" } }],
    ["ninety unknown fields", Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`f${i}`, 1]))],
    [
      "a sum that is a number",
      {
        rules: [
          {
            name: "a",
            when: { sum: { asset: "USD", per: "client", period_seconds: 60, above: 1e21 } },
            action: "allow",
          },
        ],
        default: { action: "allow" },
      },
    ],
    [
      "a hundred malformed ids in 90 rules",
      {
        rules: Array.from({ length: 90 }, (_, rule) => ({
          name: `rule-${rule}`,
          when: { clients: Array.from({ length: 100 }, (_, id) => `cli_${id}`) },
          action: "allow",
        })),
        default: { action: "allow" },
      },
    ],
  ])("refuses %s, with a response of bounded size", async (_name, document) => {
    const { status, body } = await policy.write(document, '"0"');
    expect([status, body.error?.code]).toEqual([422, "POLICY_INVALID"]);
    expect(body.error?.details?.length).toBeGreaterThan(0);
    expect(body.error?.details?.length).toBeLessThanOrEqual(100);
    expect((await policy.read()).body.version).toBe(0);
  });

  it.each([
    ["a key twice", '{"rules":[],"rules":[],"default":{"action":"allow"}}', "MALFORMED_JSON"],
    ["the key __proto__", '{"__proto__":{},"rules":[]}', "MALFORMED_JSON"],
    [
      "a NUL, which the database cannot store",
      '{"rules":[],"default":{"action":"reject","reason":"\\u0000"}}',
      "MALFORMED_JSON",
    ],
    ["more than 256 KiB", `{"rules":[${" ".repeat(270_000)}]}`, "PAYLOAD_TOO_LARGE"],
  ])("refuses %s before it is parsed", async (_name, text, code) => {
    const { body } = await policy.write(text, '"0"');
    expect(body.error?.code).toBe(code);
  });

  it("can have 200 rules and 2000 references", async () => {
    const ids = Array.from({ length: 100 }, () => nobody.slice(0, -2));
    const clients = ids.map((id, index) => id + index.toString().padStart(2, "0"));
    const document = {
      rules: Array.from({ length: 200 }, (_, index) => ({
        name: `rule-${index}`,
        when: {
          ...(index < 20 ? { clients } : {}),
          amount: { asset: "USD", min: "0.01", max: "999999999999" },
          hours: { from: 8, to: 20, time_zone: "America/Argentina/Buenos_Aires" },
          sum: { asset: "USD", per: "wallet", period_seconds: 86_400, above: "999999999999" },
          count: { asset: "USD", per: "tenant", period_seconds: 86_400, above: 100_000 },
        },
        action: "reject",
        reason: "x".repeat(256),
      })),
      default: { action: "allow" },
    };
    expect(JSON.stringify(document).length).toBeGreaterThan(180_000);
    const { status, body } = await policy.write(document, '"0"');
    // The whole document is valid, except that the clients do not exist.
    expect([status, body.error?.details?.[0]?.reason]).toEqual([422, "is not a client of this tenant"]);
  });

  it("is stored unchanged, including strings in any script", async () => {
    const document = {
      groups: { "group-1": [owner.clientId], a: [owner.clientId] },
      rules: [
        {
          name: "constructor",
          when: { count: { per: "tenant", period_seconds: 60, above: 3 } },
          action: "reject",
          reason: "„Limit“ erreicht — 已达上限 'quoted' \\ \"twice\" 🚫",
        },
      ],
      default: { action: "allow" },
    };
    expect((await policy.write(document, '"0"')).status).toBe(200);
    expect((await policy.read()).body.document).toEqual(document);
  });

  it("can be read and changed only by its own tenant", async () => {
    await policy.write(reject("ours"), '"0"');
    const theirs = policyOf(service, await service.token(await service.createTenant()));
    expect((await theirs.read()).body.version).toBe(0);
    expect((await theirs.read("?version=1")).status).toBe(404);
    expect((await theirs.send("GET", "/v1/policy/versions")).body).toMatchObject({ data: [] });
    await theirs.write(reject("theirs"), '"0"');
    expect((await policy.read()).body.document).toEqual(reject("ours"));
  });

  it("takes effect immediately in the process that wrote it, and soon in another", async () => {
    const another = await service.another();
    try {
      let count = 0;
      const pay = async (at: BlackBoxService) => {
        const body = { reference: "r", asset: "USD", amount: "1" };
        const answer = await at.call("POST", "/v1/transactions", token, body, {
          "idempotency-key": `pay-${count++}`,
        });
        return { status: answer.status, body: (await answer.json()) as object };
      };
      // Both processes have cached the policy that is about to be replaced.
      expect([(await pay(service)).status, (await pay(another)).status]).toEqual([202, 202]);
      await policy.write(reject("Closed."), '"0"');
      const refused = { status: 403, body: { error: { code: "POLICY_REJECTED", message: "Closed." } } };
      expect(await pay(service)).toMatchObject(refused);
      const answer = await eventually(
        () => pay(another),
        ({ status }) => status !== 202,
      );
      expect(answer).toMatchObject(refused);
    } finally {
      await another.stop();
    }
  });

  it("has an audit entry for each change, and none for a refused one", async () => {
    await policy.write(reject("kept"), '"0"');
    await policy.write(reject("stale"), '"0"');
    const audit = await service.call("GET", "/v1/audit?limit=200", token);
    const { data } = (await audit.json()) as { data: { action: string }[] };
    expect(data.filter(({ action }) => action.startsWith("policy."))).toMatchObject([
      { action: "policy.replace", object: "policy/1", client_id: owner.clientId },
    ]);
  });
});
