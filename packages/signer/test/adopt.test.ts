import { describe, expect, it } from "vitest";
import { createWalletKeys } from "../src/keys/wallet-keys.js";
import { publicWords } from "../src/memory-signer.js";
import { entropyOfWords, seedOf } from "../src/seed/mnemonic.js";
import { standardFeeLimits } from "../src/signing/fee-limits.js";
import type { Wallet } from "../src/signing/intent.js";
import { createSigningCore } from "../src/signing/signing-core.js";
import { newWallet, payment } from "./intents.js";

const keys = createWalletKeys(seedOf(entropyOfWords(publicWords)));
const newCore = () => createSigningCore({ keys, limits: standardFeeLimits, now: () => new Date(0) });

/** Wallets of three tenants, in the order in which they got their addresses. */
function giveAddresses(core: ReturnType<typeof newCore>) {
  const tenants = [newWallet().tenantId, newWallet().tenantId, newWallet().tenantId];
  const order = [0, 1, 0, 0, 2, 1, 0, 2, 1, 1];
  return order.map((tenant) => addressed(core, newWallet({ tenantId: tenants[tenant] as string })));
}

function addressed(core: ReturnType<typeof newCore>, wallet: Wallet) {
  const { answer } = core.addressOf(wallet);
  if (typeof answer !== "string") throw new Error(answer.reason);
  return { ...wallet, address: answer };
}

describe("wallets that a lost journal had", () => {
  it.each([0, 1, 4, 9])("get their keys back if the journal has %d of them", (kept) => {
    const wallets = giveAddresses(newCore());
    const core = newCore();
    for (const wallet of wallets.slice(0, kept)) core.addressOf({ ...wallet });
    const adoption = core.adopt(wallets.toReversed());
    expect(adoption).toMatchObject({ known: kept });
    for (const wallet of wallets) {
      expect(core.addressOf(wallet).answer).toBe(wallet.address);
      expect(core.sign(payment(wallet)).answer).toHaveProperty("bytes");
    }
    // The entries are what a start reads, and new wallets get addresses of their own.
    const again = newCore();
    for (const wallet of wallets.slice(0, kept)) again.addressOf(wallet);
    for (const entry of "entries" in adoption ? adoption.entries : []) again.replay(entry);
    const fresh = [newWallet(), newWallet({ tenantId: wallets[0]?.tenantId as string })];
    const addresses = [...wallets, ...fresh].map((wallet) => addressed(again, wallet).address);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  it("get their keys back if the service never stored some of them", () => {
    const wallets = giveAddresses(newCore());
    const stored = wallets.filter((_, index) => ![0, 1, 4, 5].includes(index));
    const core = newCore();
    expect(core.adopt(stored)).toMatchObject({ known: 0 });
    for (const wallet of stored) expect(core.addressOf(wallet).answer).toBe(wallet.address);
    const fresh = addressed(core, newWallet({ tenantId: stored[0]?.tenantId as string }));
    expect(wallets.map(({ address }) => address)).not.toContain(fresh.address);
  });

  it("are not adopted, not one of them, if an address is not of this seed, or is another wallet's", () => {
    const wallets = giveAddresses(newCore());
    const [first, second] = wallets as [(typeof wallets)[number], (typeof wallets)[number]];
    const core = newCore();
    const foreign = { ...newWallet(), address: `0x${"a1".repeat(20)}` };
    expect(core.adopt([...wallets, foreign])).toEqual({ refused: [foreign] });
    expect(core.counts().wallets).toBe(0);
    core.adopt([first]);
    const swapped = { ...first, address: second.address };
    expect(core.adopt([swapped])).toEqual({ refused: [swapped] });
    // A wallet of one tenant with an address that belongs to the account of another.
    const stolen = { ...second, tenantId: first.tenantId };
    expect(core.adopt([stolen])).toEqual({ refused: [stolen] });
  });
});
