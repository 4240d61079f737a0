import { compilePolicy, createAssetRegistry, createTimeZones, defaultPolicy } from "@bursar/domain";
import { anything, assert, constant, constantFrom, oneof, property } from "fast-check";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import { PolicyDocument } from "./policy-document.js";

const asset = { caip19: null, decimals: 2, network: "book", minimum: 1n, maximum: 10n ** 60n };
const world = {
  assets: createAssetRegistry([{ code: "USD", ...asset }]),
  networks: new Set(["book"]),
  markets: new Set(["ETH-USD"]),
  timeZones: createTimeZones(),
};
const client = (last: string) => `cli_01hw000000e00800000000000${last}`;
const whole: PolicyDocument = {
  groups: { officers: [client("1"), client("2")] },
  rules: [
    {
      name: "everything",
      when: {
        assets: ["USD"],
        networks: ["book"],
        amount: { asset: "USD", min: "1", max: "2" },
        source_wallets: ["wlt_01hw000000e008000000000001"],
        source_purposes: ["payout", "treasury"],
        destinations: ["address", "own_wallet"],
        clients: [client("3")],
        hours: { from: 22, to: 6, time_zone: "Europe/Berlin" },
        sum: { asset: "USD", per: "client", period_seconds: 86_400, above: "10" },
        count: { per: "wallet", period_seconds: 60, above: 3 },
      },
      action: "require_approval",
      approvals: 2,
      from: { clients: [client("1")], groups: ["officers"] },
      expires_after_seconds: 3600,
    },
    { name: "trade", when: { kind: "order", markets: ["ETH-USD"] }, action: "allow" },
    { name: "none", when: {}, action: "reject", reason: "no" },
  ],
  default: { action: "allow" },
};

describe("the schema of a policy", () => {
  it("takes what the domain takes", () => {
    for (const document of [whole, defaultPolicy]) {
      expect(Value.Check(PolicyDocument, document)).toBe(true);
      expect(compilePolicy(document, world).faults).toBeUndefined();
    }
  });

  it("accepts every document that the domain accepts, even if any part of it is replaced", async () => {
    const odd = [
      "",
      "x",
      "X",
      "USD",
      "1",
      0,
      1,
      24,
      59,
      201,
      1.5,
      -1,
      true,
      null,
      {},
      [],
      ["x"],
      "a".repeat(300),
      undefined,
    ];
    const parts = pathsOf(whole);
    let taken = 0;
    await assert(
      property(
        constantFrom(...parts),
        oneof(constantFrom<unknown>(...odd), anything(), constant("$remove")),
        (path, value) => {
          const document = JSON.parse(JSON.stringify(replaceAt(whole, path, value)) ?? "null");
          if (compilePolicy(document, world).faults !== undefined) return;
          taken += 1;
          expect(Value.Check(PolicyDocument, document), JSON.stringify(document)).toBe(true);
        },
      ),
      { numRuns: 3000 },
    );
    expect(taken).toBeGreaterThan(20);
  });
});

/** The path of every value inside a value. */
function pathsOf(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    [key],
    ...pathsOf(member).map((path) => [key, ...path]),
  ]);
}

function replaceAt(value: unknown, [key = "", ...rest]: readonly string[], replacement: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => {
      if (String(index) !== key) return item;
      return rest.length === 0 ? replacement : replaceAt(item, rest, replacement);
    });
  }
  const own = (value as Record<string, unknown>)[key];
  const replaced = rest.length === 0 ? replacement : replaceAt(own, rest, replacement);
  return { ...(value as object), [key]: replaced === "$remove" ? undefined : replaced };
}
