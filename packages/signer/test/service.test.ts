import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { JournalEntry } from "../src/journal/journal-entry.js";
import { createWalletKeys } from "../src/keys/wallet-keys.js";
import { publicWords } from "../src/memory-signer.js";
import { entropyOfWords, seedOf } from "../src/seed/mnemonic.js";
import { createSignerService } from "../src/signer-service.js";
import { standardFeeLimits } from "../src/signing/fee-limits.js";
import { createSigningCore } from "../src/signing/signing-core.js";
import { newWallet, payment, toJson } from "./intents.js";

/** A service whose disk takes its time. */
function slowService() {
  const keys = createWalletKeys(seedOf(entropyOfWords(publicWords)));
  const core = createSigningCore({ keys, limits: standardFeeLimits, now: () => new Date() });
  const entries: JournalEntry[] = [];
  const waiting: (() => void)[] = [];
  const journal = {
    append: (added: readonly JournalEntry[]) =>
      new Promise<void>((resolve) => {
        entries.push(...added);
        waiting.push(resolve);
      }),
    close: async () => {},
  };
  const sync = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { service: createSignerService({ core, journal, keyId: "" }), entries, sync };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  return Promise.race([promise.then(() => true), nextTurn(false)]);
}

it("nothing is answered before the disk has it, neither a repeated request nor a part of a large one", async () => {
  const { service, entries, sync } = slowService();
  const wallet = newWallet();
  const addresses = service.addressesOf([wallet]);
  expect(await isSettled(addresses)).toBe(false);
  sync();
  const [address] = (await addresses) as [string];

  const intents = Array.from({ length: 40 }, (_, nonce) =>
    toJson(payment({ ...wallet, address }, { nonce })),
  );
  const first = service.sign(intents);
  const again = service.sign(intents);
  expect(await isSettled(Promise.race([first, again]))).toBe(false);
  sync();
  expect(await first).toEqual(await again);
  // Signed once each, in the order of the decisions.
  const nonces = entries.flatMap((entry) => (entry.type === "signature" ? [entry.nonce] : []));
  expect([...nonces].sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, nonce) => nonce));
});
