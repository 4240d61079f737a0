import type { PolicyDocument } from "@bursar/domain";
import type { PolicyEvaluation } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { createPolicyTenant, type PolicyTenant } from "../../harness/transactions/policy-client.js";

const address = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const listed = { network: "eip155:1", address };
const limited: PolicyDocument = {
  rules: [
    {
      name: "daily-limit",
      when: { sum: { asset: "USD", per: "client", period_seconds: 86_400, above: "1000" } },
      action: "reject",
      reason: "The limit is exhausted.",
    },
    {
      name: "hourly-count",
      when: { count: { per: "wallet", period_seconds: 3600, above: 5 } },
      action: "reject",
      reason: "Too many.",
    },
    {
      name: "large",
      when: { amount: { asset: "USD", min: "500" } },
      action: "require_approval",
      approvals: 1,
      expires_after_seconds: 60,
    },
    { name: "own", when: { destinations: ["own_wallet"] }, action: "allow" },
  ],
  default: { action: "reject", reason: "Not to strangers." },
};

describe("a policy evaluation", () => {
  let service: TestService;
  let tenant: PolicyTenant;
  beforeAll(async () => {
    service = await startTestService({ BURSAR_DESTINATION_DELAY_SECONDS: "3600" });
  });
  beforeEach(async () => {
    tenant = await createPolicyTenant(service);
  });
  afterAll(() => service.stop());

  const evaluate = async (transaction: object = {}, more: object = {}) => {
    const response = await service.call("POST", "/v1/policy/evaluate", tenant.token, {
      transaction: { reference: "what if", asset: "USD", amount: "1", ...transaction },
      ...more,
    });
    return {
      status: response.status,
      body: (await response.json()) as PolicyEvaluation & {
        error?: { code: string; details: { path: string; reason: string; rule?: string }[] };
      },
    };
  };
  const settle = async (amount: string) => {
    const { id } = (await (await tenant.create(amount)).json()) as { id: string };
    await tenant.settled(id, "completed");
  };

  it("names the deciding rule of the policy in force", async () => {
    expect((await evaluate()).body).toEqual({
      action: "allow",
      rule: "own-wallets",
      policy_version: 0,
      reason: null,
      decided: "at_once",
      approval: null,
      sums: [],
    });
    expect((await evaluate({ destination: listed })).body).toMatchObject({
      action: "reject",
      rule: "default",
      reason: expect.stringContaining("allow-list"),
      decided: "at_once",
    });
  });

  it("reports the sums that it used, with and without the transaction", async () => {
    await tenant.usePolicy(limited);
    await settle("400.50");
    await settle("99.5");
    const { body } = await evaluate({ amount: "499.99" });
    expect(body).toMatchObject({ action: "allow", rule: "own", policy_version: 1, decided: "later" });
    expect(body.sums).toEqual([
      {
        rule: "daily-limit",
        measure: "sum",
        per: "client",
        asset: "USD",
        period_seconds: 86_400,
        before: "500",
        including: "999.99",
        limit: "1000",
        above: false,
      },
      {
        rule: "hourly-count",
        measure: "count",
        per: "wallet",
        asset: null,
        period_seconds: 3600,
        before: "2",
        including: "3",
        limit: "5",
        above: false,
      },
    ]);
    const beyond = (await evaluate({ amount: "500.01" })).body;
    expect(beyond).toMatchObject({
      action: "reject",
      rule: "daily-limit",
      reason: "The limit is exhausted.",
    });
    expect(beyond.sums).toMatchObject([{ including: "1000.01", above: true }]);
  });

  it("names the approvers", async () => {
    await tenant.usePolicy(limited);
    const officer = await tenant.addClient("officer");
    expect((await evaluate({ amount: "600" })).body).toMatchObject({
      action: "require_approval",
      rule: "large",
      decided: "later",
      approval: { approvals: 1, clients: null, expires_after_seconds: 60 },
    });
    const document = {
      groups: { officers: [officer.id] },
      rules: [],
      default: { action: "require_approval", approvals: 1, from: { groups: ["officers"] } },
    };
    expect((await evaluate({}, { document })).body.approval).toEqual({
      approvals: 1,
      clients: [officer.id],
      expires_after_seconds: 86_400,
      signed: false,
      people: false,
    });
  });

  it("can use another client, another time and a policy that is not in force", async () => {
    const officer = await tenant.addClient("officer");
    const document = {
      rules: [
        {
          name: "office-hours",
          when: { clients: [officer.id], hours: { from: 9, to: 17, time_zone: "Europe/Berlin" } },
          action: "allow",
        },
      ],
      default: { action: "reject", reason: "Closed." },
    };
    const at = (time: string, client = officer.id) => evaluate({}, { document, client_id: client, at: time });
    const open = await at("2026-07-01T07:00:00Z");
    expect(open.body).toMatchObject({ action: "allow", rule: "office-hours", policy_version: null });
    expect((await at("2026-07-01T06:59:59Z")).body.rule).toBe("default");
    expect((await at("2026-07-01T15:00:00Z")).body.rule).toBe("default");
    const own = await evaluate({}, { document, at: "2026-07-01T07:00:00Z" });
    expect(own.body.rule).toBe("default");
    // The evaluated policy did not take effect.
    expect((await evaluate()).body.policy_version).toBe(0);
  });

  it("distinguishes listed, pending and unlisted addresses", async () => {
    const added = await service.call("POST", "/v1/destinations", tenant.token, {
      label: "supplier",
      ...listed,
    });
    const { effective_at } = (await added.json()) as { effective_at: string };
    const kindAt = async (at: number, destination = listed) =>
      (await evaluate({ destination }, { at: new Date(at).toISOString() })).body.rule;
    const effectiveAt = Date.parse(effective_at);
    expect(await kindAt(effectiveAt - 1)).toBe("default");
    expect(await kindAt(effectiveAt)).toBe("listed-addresses");
    expect(await kindAt(effectiveAt, { ...listed, address: address.toLowerCase() })).toBe("listed-addresses");
    expect(await kindAt(effectiveAt, { ...listed, network: "eip155:10" })).toBe("default");
  });

  it("writes nothing: no transaction, no sum, no event", async () => {
    // The audit entries of the tests' own tokens and transactions are written a moment later.
    await tenant.usePolicy(limited);
    await settle("10");
    const state = async () => [
      await service.database.query(sql`
        SELECT (SELECT count(*) FROM transactions) AS transactions, (SELECT count(*) FROM open_transactions) AS open,
          (SELECT sum(count) FROM usage_buckets) AS counted, (SELECT count(*) FROM usage_windows) AS windows, (SELECT count(*) FROM judgements) AS judgements,
          (SELECT count(*) FROM policies) AS policies, (SELECT count(*) FROM audit_entries WHERE action NOT IN ('token.issue', 'transaction.create')) AS audit
      `),
      await tenant.balances(),
    ];
    const before = await state();
    for (const amount of ["1", "600", "5000"]) {
      await evaluate({ amount });
      await evaluate({ amount }, { document: limited });
    }
    expect(await state()).toEqual(before);
    expect((await evaluate({ amount: "1" })).body.sums[0]?.before).toBe("10");
  });

  it.each<[object, object, number, string, string]>([
    [{ asset: "DOGE" }, {}, 422, "ASSET_UNKNOWN", "body.transaction.asset"],
    [{ amount: "1.001" }, {}, 422, "AMOUNT_PRECISION_EXCEEDED", "body.transaction.amount"],
    [{ amount: "0" }, {}, 400, "INVALID_REQUEST", "body.transaction.amount"],
    [
      { source: { wallet_id: "wlt_01h455vb4pex5vsknk084sn02q" } },
      {},
      422,
      "WALLET_UNKNOWN",
      "body.transaction.source.wallet_id",
    ],
    [{ asset: "DOGE", destination: listed }, {}, 422, "ASSET_UNKNOWN", "body.transaction.asset"],
    [
      { destination: { network: "book", address } },
      {},
      422,
      "NETWORK_UNKNOWN",
      "body.transaction.destination.network",
    ],
    [
      { destination: { network: "eip155:1", address: "0x1" } },
      {},
      400,
      "INVALID_REQUEST",
      "body.transaction.destination.address",
    ],
    [{}, { client_id: "cli_01h455vb4pex5vsknk084sn02q" }, 422, "CLIENT_UNKNOWN", "body.client_id"],
    [{}, { client_id: "me" }, 422, "CLIENT_UNKNOWN", "body.client_id"],
    [{}, { at: "2016-12-31T23:59:60Z" }, 400, "INVALID_REQUEST", "body.at"],
    [{}, { at: "yesterday" }, 400, "INVALID_REQUEST", "body.at"],
    [{}, { document: null }, 422, "POLICY_INVALID", "body.document"],
    [
      {},
      {
        document: {
          rules: [{ name: "a", when: { colour: 1 }, action: "allow" }],
          default: { action: "allow" },
        },
      },
      422,
      "POLICY_INVALID",
      "body.document.rules.0.when.colour",
    ],
  ])("refuses %j with %j", async (transaction, more, status, code, path) => {
    const answer = await evaluate(transaction, more);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    expect(answer.body.error?.details.map((detail) => detail.path)).toEqual([path]);
  });

  it("does not find another tenant's wallets and clients", async () => {
    const other = await createPolicyTenant(service);
    const wallets = await service.call("GET", "/v1/wallets", other.token);
    const { data } = (await wallets.json()) as { data: { id: string }[] };
    const foreign = await evaluate({ source: { wallet_id: data[0]?.id } });
    expect(foreign.body.error?.code).toBe("WALLET_UNKNOWN");
    const officer = await other.addClient("officer");
    expect((await evaluate({}, { client_id: officer.id })).body.error?.code).toBe("CLIENT_UNKNOWN");
  });
});
