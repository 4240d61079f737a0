import type { AuditCheckpoint } from "@bursar/client";
import { beforeAll, describe, expect, it } from "vitest";
import { type PublicKey, verifyChain } from "./verify-chain";

const hashOf = (number: number) => number.toString(16).padStart(64, "0");
const entryOf = (number: number) => ({ number, hash: hashOf(number) });
const all = { entries: [5, 4, 3, 2, 1].map(entryOf), isAll: true, removedTo: null };

describe("the chain in the page", () => {
  let keys: PublicKey[];
  let sign: (number: number, hash?: string) => Promise<AuditCheckpoint>;
  beforeAll(async () => {
    const pair = (await crypto.subtle.generateKey({ name: "Ed25519" }, true, [
      "sign",
      "verify",
    ])) as CryptoKeyPair;
    const { x = "" } = await crypto.subtle.exportKey("jwk", pair.publicKey);
    keys = [{ kid: "key", x }];
    sign = async (number, hash = hashOf(number)) => {
      // In the order of canonical JSON.
      const statement = { hash, key_id: "key", number, tenant_id: "tnt_1", time: "2026-01-01T00:00:00.000Z" };
      const text = new TextEncoder().encode(`bursar audit checkpoint\n${JSON.stringify(statement)}`);
      const bytes = new Uint8Array(await crypto.subtle.sign({ name: "Ed25519" }, pair.privateKey, text));
      const signature = btoa(String.fromCharCode(...bytes))
        .replaceAll("+", "-")
        .replaceAll("/", "_");
      return { signature: signature.replaceAll("=", ""), ...statement };
    };
  });

  it("is confirmed by signed checkpoints and by what was seen before", async () => {
    const report = await verifyChain(all, [await sign(4)], keys, { number: 3, hash: hashOf(3) });
    expect(report).toMatchObject({ from: 1, to: 5, confirmed: [{ number: 4 }], faults: [] });
    expect(report.seen).toEqual({ number: 3, state: "reached" });
  });

  it.each([
    [
      "a missing entry",
      () => verifyChain({ ...all, entries: all.entries.toSpliced(2, 1) }, [], keys, undefined),
      /followed by entry 2/,
    ],
    [
      "a cut end",
      async () => verifyChain(all, [await sign(6)], keys, undefined),
      /before a checkpoint at entry 6/,
    ],
    [
      "another hash",
      async () => verifyChain(all, [await sign(4, hashOf(9))], keys, undefined),
      /Entry 4 has another hash/,
    ],
    [
      "another number",
      async () => verifyChain(all, [{ ...(await sign(4)), number: 3 }], keys, undefined),
      /signature .* entry 3 is wrong/,
    ],
    [
      "an unknown key",
      async () => verifyChain(all, [{ ...(await sign(4)), key_id: "x" }], keys, undefined),
      /signature/,
    ],
    ["a changed past", () => verifyChain(all, [], keys, { number: 2, hash: hashOf(7) }), /saw it before/],
    [
      "a cut beginning",
      () =>
        verifyChain({ ...all, entries: all.entries.slice(0, 3) }, [], keys, { number: 2, hash: hashOf(2) }),
      /begins at entry 3/,
    ],
    ["a shorter past", () => verifyChain(all, [], keys, { number: 8, hash: hashOf(8) }), /has seen entry 8/],
  ])("reports %s", async (_name, verify, fault) => {
    const { faults } = await verify();
    expect(faults).toEqual([expect.stringMatching(fault)]);
  });

  it("says that the entry which was seen before was not reached, or was removed by the operator", async () => {
    const newest = { entries: all.entries.slice(0, 3), isAll: false, removedTo: null };
    const seen = { number: 2, hash: hashOf(7) };
    expect(await verifyChain(newest, [], keys, seen)).toMatchObject({
      faults: [],
      seen: { number: 2, state: "not reached" },
    });
    const rest = { ...newest, isAll: true, removedTo: 2 };
    expect(await verifyChain(rest, [], keys, seen)).toMatchObject({
      faults: [],
      seen: { number: 2, state: "removed" },
    });
  });
});
