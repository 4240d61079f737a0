import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ChainUnit } from "../../../app/chain/chain-store.js";
import type { LockedSender } from "../../../app/chain/locked-sender.js";
import type { SignedNonce } from "../../../app/chain/signer.js";
import type { UnconfirmedPage, UnconfirmedWallet } from "../../../app/chain/unconfirmed-wallet.js";
import type { FollowedChain } from "../driver/driver-context.js";
import { type ConfirmationDeps, createConfirmation } from "./confirmation.js";

const chain = { lease: {}, tail: [], evidence: new Map() } as unknown as FollowedChain;
const tenantId = randomUUID();

const walletOf = (walletId: string): UnconfirmedWallet => ({
  ...{ tenantId, walletId, address: walletId, finalNonce: 0, nextNonce: 0, hasLater: false },
  ...{ confirmedEpoch: 1, epoch: 2 },
});

const senderOf = (walletId: string): LockedSender => ({
  ...{ tenantId, walletId, nextNonce: 0, hasLater: false, boundNonce: null, isHalted: false },
  ...{ haltedCode: null, isConfirmed: false, epoch: 2, isFrozen: false, inFlight: 0 },
});

/** Wallets that no SQL transaction changes: they stay unconfirmed. The clock goes on by a second with each look. */
function createLooks(idle: readonly string[], signed: Record<string, SignedNonce[]> = {}, usedNonces = 0) {
  const waiting: string[] = [];
  const asked: string[] = [];
  let nowMs = 0;
  const unit = {
    listUnknownNonces: async (nonces) => nonces.map((one) => ({ ...one, isNoted: false })),
    listBoundNonces: async () => [],
    lockSenders: async (wallets) => wallets.map(({ walletId }) => senderOf(walletId)),
    confirmWallets: () => undefined,
    doubtWallets: async () => false,
    haltWallet: async () => true,
  } satisfies Partial<ChainUnit> as unknown as ChainUnit;
  const confirmation = createConfirmation({
    network: { network: "eip155:1" },
    node: {
      heads: async () => ({ final: {} }),
      noncesAt: async (all: readonly string[]) => all.map(() => usedNonces),
    },
    signer: {
      signedFrom: async (wallets: readonly { walletId: string }[]) => {
        asked.push(...wallets.map(({ walletId }) => walletId));
        return wallets.map(({ walletId }) => signed[walletId] ?? []);
      },
    },
    store: {
      unitOfWork: (_: unknown, work: (given: ChainUnit) => Promise<unknown>) => work(unit),
      listUnconfirmed: async (_: string, page: UnconfirmedPage) => {
        const all = page.of === "waiting" ? waiting : idle;
        const after = page.of === "waiting" ? page.afterWalletId : page.after?.walletId;
        const wallets = all
          .filter((walletId) => walletId > (after ?? ""))
          .slice(0, page.limit)
          .map(walletOf);
        const last = wallets.length < page.limit ? undefined : wallets.at(-1);
        const { limit } = page;
        if (last === undefined) return { wallets, next: undefined };
        return page.of === "waiting"
          ? { wallets, next: { of: "waiting", afterWalletId: last.walletId, limit } }
          : { wallets, next: { of: page.of, after: last, limit } };
      },
    },
    recorder: { onChanged: () => undefined, now: () => 0 },
    monotonicMs: () => nowMs,
    isUnavailable: () => false,
    onShort: () => undefined,
  } as unknown as ConfirmationDeps);
  return {
    ...{ confirmation, waiting, asked },
    look: async () => {
      nowMs += 1000;
      asked.length = 0;
      await confirmation.confirm(chain);
    },
  };
}

describe("a round of many unconfirmed wallets", () => {
  it("asks about a wallet that begins to wait in the middle of it within two looks", async () => {
    const idle = Array.from({ length: 1000 }, (_, index) => `a${String(index).padStart(4, "0")}`);
    const { look, waiting, asked } = createLooks(idle);
    for (let looks = 0; looks < 3; looks++) await look();
    // Behind all others in the order of the round, as a busy wallet is after a second doubt.
    waiting.push("z");
    const seen: string[] = [];
    for (let looks = 0; looks < 2; looks++) {
      await look();
      seen.push(...asked);
    }
    expect(seen).toContain("z");
    expect(seen.some((walletId) => walletId.startsWith("a"))).toBe(true);
  });
});

describe("what the signer has said", () => {
  it("is forgotten when the database may have gone back: a gap may be none any more", async () => {
    const { look, confirmation } = createLooks(["a"], { a: [{ nonce: 1, transactionId: "payment" }] });
    await look();
    expect(confirmation.hasGap(senderOf("a"))).toBe(true);
    confirmation.reset();
    expect(confirmation.hasGap(senderOf("a"))).toBe(false);
    expect(confirmation.isBound({ id: "payment", walletId: "a" })).toBe(false);
  });
});

describe("a wallet that the chain is ahead of", () => {
  it("is halted without what was found to adopt it before it was resumed", async () => {
    const [overtaken, other] = [randomUUID(), randomUUID()];
    const { look } = createLooks([overtaken], {}, 1);
    for (const walletId of [overtaken, other]) chain.evidence.set(walletId, { found: new Map(), left: 0 });
    await look();
    expect([...chain.evidence.keys()]).toEqual([other]);
  });
});
