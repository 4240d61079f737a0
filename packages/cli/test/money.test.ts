import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startFakeService } from "./harness/fake-service.js";
import { assets, honestDigest, me, waiting } from "./harness/resources.js";
import { createRunner } from "./harness/run.js";

describe("before money is moved", () => {
  let service: Awaited<ReturnType<typeof startFakeService>>;
  let cli: ReturnType<typeof createRunner>;
  let shown = waiting;
  beforeAll(async () => {
    service = await startFakeService({
      "GET /v1/me": { body: me },
      "GET /v1/assets": { body: assets },
      [`GET /v1/transactions/${waiting.id}`]: () => ({ body: shown }),
      [`POST /v1/transactions/${waiting.id}/approvals`]: () => ({ body: { ...shown, state: "completed" } }),
      "POST /v1/transactions": { status: 202, body: { ...waiting, state: "accepted", approval: null } },
      "POST /v1/orders": { status: 201, body: { id: "ord_1", state: "open" } },
    });
    cli = createRunner(service.url);
  });
  afterAll(() => service.close());
  beforeEach(() => {
    shown = waiting;
    service.requests.splice(0);
  });
  const sent = () => service.requests.filter(({ method }) => method === "POST");

  it("a person is asked, and only yes is a yes", async () => {
    const pay = ["tx", "create", "1", "USD\u202e", "--reference", "r", "--to", "wlt_2"];
    const declined = await cli.run(pay, { terminal: true, answers: ["maybe"] });
    expect(declined.code).toBe(1);
    expect(declined.err).toContain("Nothing was sent.");
    expect(declined.prompts).toEqual([
      {
        prompt: `Send 1 USD\\u{202e} from the primary wallet to wlt_2, reference "r", at ${service.url} (sandbox)? [y/N] `,
        hidden: false,
      },
    ]);
    expect(sent()).toEqual([]);
    expect((await cli.run(pay, { terminal: true, answers: ["y"] })).code).toBe(0);
    expect(sent()).toHaveLength(1);
    expect(JSON.parse(sent()[0]?.body ?? "")).toMatchObject({
      destination: { wallet_id: "wlt_2" },
      reference: "r",
    });
  });

  it("--yes and scripts are not asked", async () => {
    const pay = ["tx", "create", "1", "USD", "--reference", "r", "--to", "0xabc", "--idempotency-key", "k-1"];
    for (const run of [cli.run([...pay, "-y"], { terminal: true }), cli.run(pay)])
      expect(await run).toMatchObject({ code: 0, prompts: [] });
    expect(sent().map(({ headers }) => headers["idempotency-key"])).toEqual(["k-1", "k-1"]);
    expect(JSON.parse(sent()[0]?.body ?? "").destination).toEqual({ address: "0xabc" });
  });

  it.each([
    [["order", "place", "buy", "ETH-USD", "--size", "1", "--price", "10"]],
    [["api", "POST", "/v1/orders", "--data", "{}"]],
    [["tx", "approve", waiting.id]],
  ])("%j asks too", async (args) => {
    const { code, prompts } = await cli.run(args, { terminal: true, answers: ["n"] });
    expect({ code, count: prompts.length, sent: sent().length }).toEqual({ code: 1, count: 1, sent: 0 });
  });

  it("an approval is of what is shown: the digest of the policy guide's example", async () => {
    const { code, err } = await cli.run(["tx", "approve", waiting.id, "--comment", "ok"]);
    expect(code).toBe(0);
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const [, block] =
      /^\$ bursar tx approve .*\n((?:.*\n)*?)Approve 1250000 units of USD, which are 12500 USD with 2 decimals\?/m.exec(
        readme,
      ) ?? [];
    expect(err).toBe(block);
    expect(JSON.parse(sent()[0]?.body ?? "")).toEqual({
      decision: "approve",
      digest: "de4841acff5bf48e6a02370c4368bf425f2eba87cd40d76014b8af441b577d29",
      comment: "ok",
    });
  });

  const changes: [string, object][] = [
    ["amount", { amount: "12500.01" }],
    ["destination", { destination: { wallet_id: "wlt_01hw000000e008000000000003" } }],
    ["source", { source: { wallet_id: "wlt_01hw000000e008000000000003" } }],
    ["asset's network", { network: "eip155:1" }],
    ["creator", { created_by: "cli_01hw000000e008000000000001" }],
    ["expiry", { expires_at: "2027-01-01T00:00:00.000Z" }],
    ["id", { id: "tx_01hw000000e008000000000002" }],
  ];
  it.each(changes)(
    "if the %s that is shown is not that of the digest, nothing is approved",
    async (_what, change) => {
      shown = { ...waiting, ...change };
      const { code, err } = await cli.run(["tx", "approve", waiting.id, "--yes"]);
      expect(code).toBe(1);
      expect(err).toContain(
        `The digest of what is shown is ${await honestDigest(shown)}, and the service's is de4841ac`,
      );
      expect(err).toContain("Nothing was approved");
      expect(sent()).toEqual([]);
    },
  );

  const honest = "wlt_01hw000000e008000000000002";
  const malformed: [string, object][] = [
    ["destination that has two names", { destination: { wallet_id: honest, address: "0x1111" } }],
    ["source that has two names", { source: { ...waiting.source, address: "0x1111" } }],
    ["destination without a name", { destination: {} }],
    ["destination with another member", { destination: { wallet_id: honest, memo: "7" } }],
    ["destination that is a list", { destination: { wallet_id: [honest] } }],
    ["wallet that looks like an address", { destination: { wallet_id: "0x1111" } }],
    ["address that looks like a wallet", { destination: { address: honest } }],
    ["destination with words beside it", { destination: { wallet_id: `${honest} (on the list)` } }],
    ["creator that is a list", { created_by: [waiting.created_by] }],
    ["expiry that is a word", { expires_at: "never" }],
    ["amount that is a number", { amount: 12500 }],
    ["network that is a list", { network: ["book"] }],
  ];
  it.each(malformed)(
    "nothing is approved, whatever the digest is, with a malformed answer: %s",
    async (_what, change) => {
      const changed = { ...waiting, ...change } as typeof waiting;
      const { destination } = changed;
      // In the order of RFC 8785.
      const content = {
        amount: "1250000",
        asset: changed.asset,
        created_by: changed.created_by,
        decimals: 2,
        destination: "wallet_id" in destination ? { wallet_id: destination.wallet_id } : destination,
        expires_at: changed.expires_at,
        kind: changed.kind,
        network: changed.network,
        source: { wallet_id: changed.source.wallet_id },
        tenant_id: me.tenant.id,
        transaction_id: changed.id,
        type: "bursar.approval.v3",
      };
      const digest = createHash("sha256").update(JSON.stringify(content)).digest("hex");
      shown = { ...changed, approval: { ...waiting.approval, digest } };
      const { code, err } = await cli.run(["tx", "approve", waiting.id, "--yes"]);
      expect({ code, sent: sent() }).toEqual({ code: 1, sent: [] });
      expect(err).toContain("is malformed");
    },
  );

  it("another transaction than the one that was asked for is not approved", async () => {
    const other = { ...waiting, id: "tx_01hw000000e008000000000002" };
    shown = { ...other, approval: { ...other.approval, digest: await honestDigest(other) } };
    const { code, err } = await cli.run(["tx", "approve", waiting.id, "--yes"]);
    expect({ code, sent: sent() }).toEqual({ code: 1, sent: [] });
    expect(err).toContain(`The service answered with ${other.id} instead of ${waiting.id}`);
  });

  it("a rejection needs no agreement about the digest", async () => {
    shown = { ...waiting, amount: "1" };
    const { code, err } = await cli.run(["tx", "reject", waiting.id]);
    expect(code).toBe(0);
    expect(err).toContain("Warning: The digest of what is shown is");
    expect(JSON.parse(sent()[0]?.body ?? "")).toMatchObject({
      decision: "reject",
      digest: waiting.approval.digest,
    });
  });
});
