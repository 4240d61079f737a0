import { expect, it } from "vitest";
import type { ChainUnit } from "../../../app/chain/chain-store.js";
import type { TakenPayment } from "../../../app/chain/nonce-use.js";
import type { ComparedPage } from "../../../app/chain/wallet-books.js";
import { compareBalances } from "./compare-balances.js";
import type { DriverContext, FollowedChain } from "./driver-context.js";

const nameOf = (index: number) => `wallet ${String(index).padStart(4, "0")}`;
const halted = { finalNonce: 0, lowestOpen: null, isHalted: true, balances: new Map() };
const settled = { number: 100, hash: "settled", parentHash: "before" };

/**
 * Wallets with the block at which each was compared last. Those that are stuck stay as they are, as if they were adopted and not decided. If they
 * have forgotten payments, they are being adopted.
 */
function createComparison(touched: number, others: number, forgotten = 0) {
  const comparedAt = new Map(
    Array.from({ length: touched + others }, (_, index) => [nameOf(index), index < touched ? -1 : 0]),
  );
  const seen = new Set<string>();
  const asked: string[] = [];
  const payments = Array.from({ length: forgotten }, (_, nonce) => ({ id: `${nonce}`, nonce, attempt: 0 }));
  const unit = {
    listUnsettled: async () => new Set<string>(),
    readBooks: async (wallets) =>
      forgotten === 0 ? [] : wallets.map((wallet) => ({ ...wallet, ...halted, statedNonce: forgotten })),
    lockSenders: async () => [],
    listTaken: async () => payments as TakenPayment[],
    listBoundNonces: async () => [],
    lockWallets: () => undefined,
    touchWallets: () => undefined,
    writeHoldings: (wallets, _, at) => {
      for (const { walletId } of wallets) if (comparedAt.get(walletId) !== -1) comparedAt.set(walletId, at);
    },
    emptyGathered: () => undefined,
    gather: async () => [],
  } satisfies Partial<ChainUnit>;
  const context = {
    network: { network: "eip155:1", coin: "ETH", tokens: [] },
    node: {
      balances: async (accounts: readonly { address: string }[]) => {
        for (const { address } of accounts) seen.add(address);
        return accounts.map(() => 0n);
      },
      noncesAt: async (addresses: readonly string[]) => addresses.map(() => forgotten),
      findNonceUse: async () => undefined,
    },
    signer: {
      signedFrom: async (wallets: readonly { walletId: string }[]) => {
        asked.push(...wallets.map(({ walletId }) => walletId));
        return wallets.map(() => []);
      },
    },
    store: {
      unitOfWork: (_: unknown, work: (given: unknown) => Promise<unknown>) => work(unit),
      listToCompare: async (_: string, page: ComparedPage) =>
        [...comparedAt]
          .filter(([walletId, at]) =>
            page.of === "touched"
              ? at < 0 && walletId > (page.afterWalletId ?? "")
              : at >= 0 && at < page.beforeNumber,
          )
          .slice(0, page.limit)
          .map(([walletId]) => ({ tenantId: "tenant", walletId, address: walletId })),
    },
    recorder: { onChanged: () => undefined },
    isUnavailable: () => false,
  } as unknown as DriverContext;
  const chain = {
    ...{ tail: [settled], lease: {}, evidence: new Map(), keepLease: async () => undefined },
  } as unknown as FollowedChain;
  const turn = { afterWalletId: undefined };
  return { seen, asked, compare: () => compareBalances(context, chain, turn, () => undefined) };
}

it("compares wallets in turn if more than a call takes stay to be compared", async () => {
  const { seen, compare } = createComparison(300, 0);
  for (let calls = 0; calls < 3; calls++) expect(await compare()).toBe("touched");
  expect(seen.size).toBe(300);
});

it("compares a page of the others beside them", async () => {
  const { seen, compare } = createComparison(300, 100);
  await compare();
  expect([...seen].filter((name) => name >= nameOf(300))).toHaveLength(32);
});

it("has nothing more to compare when all were", async () => {
  const { seen, compare } = createComparison(0, 40);
  expect(await compare()).toBe("others");
  expect(await compare()).toBe("none");
  expect(seen.size).toBe(40);
});

it("asks the signer about no more wallets that are adopted when the step has looked for as many payments as it may", async () => {
  const { asked, compare } = createComparison(100, 0, 40);
  await compare();
  expect(asked).toEqual([0, 1, 2, 3].map(nameOf));
});
