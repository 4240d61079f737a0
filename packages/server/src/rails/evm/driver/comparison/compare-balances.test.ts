import { expect, it } from "vitest";
import { NodesDisagreeError, NodeUnavailableError } from "../../../../app/chain/chain-node.js";
import type { ChainUnit } from "../../../../app/chain/chain-store.js";
import type { TakenPayment } from "../../../../app/chain/nonce-use.js";
import type { ComparedPage } from "../../../../app/chain/wallet-books.js";
import type { DriverContext, FollowedChain } from "../driver-context.js";
import { compareBalances } from "./compare-balances.js";

const nameOf = (index: number) => `00000000-0000-7000-8000-${String(index).padStart(12, "0")}`;
const halted = { finalNonce: 0, lowestOpen: null, isHalted: true, balances: new Map() };
const settled = { number: 100, hash: "settled", parentHash: "before" };

/** What nodes answer about an account instead; undefined if they have an answer. */
type NodeFault = (address: string, contract: string | null | "nonce") => Error | undefined;

/**
 * Wallets with the block at which each was compared last. Those that are stuck stay as they are, as if they were adopted and not decided. If they
 * have forgotten payments, they are being adopted.
 */
function createComparison(touched: number, others: number, forgotten = 0, nodeFault?: NodeFault) {
  const comparedAt = new Map(
    Array.from({ length: touched + others }, (_, index) => [nameOf(index), index < touched ? -1 : 0]),
  );
  const seen = new Set<string>();
  const asked: string[] = [];
  const payments = Array.from({ length: forgotten }, (_, nonce) => ({
    id: `${nonce}`,
    nonce,
    attempt: 0,
    hashes: [],
  }));
  const unit = {
    listAwaiting: async () => [],
    listUnsettled: async () => new Set<string>(),
    readBooks: async (wallets) =>
      forgotten === 0 ? [] : wallets.map((wallet) => ({ ...wallet, ...halted, statedNonce: forgotten })),
    lockSenders: async () => [],
    listTaken: async () => payments as unknown as TakenPayment[],
    listBoundNonces: async () => [],
    lockWallets: () => undefined,
    touchWallets: () => undefined,
    writeHoldings: (wallets, _, at) => {
      for (const { walletId } of wallets) if (comparedAt.get(walletId) !== -1) comparedAt.set(walletId, at);
    },
    passOver: (wallets, at) => {
      for (const { walletId } of wallets) comparedAt.set(walletId, at);
    },
    setGathered: () => undefined,
    gather: async () => [],
  } satisfies Partial<ChainUnit>;
  const context = {
    network: { network: "eip155:1", coin: "ETH", tokens: nodeFault === undefined ? [] : [token] },
    node: {
      balances: async (accounts: readonly { address: string; contract: string | null }[]) => {
        for (const { address, contract } of accounts) failIf(nodeFault?.(address, contract));
        for (const { address } of accounts) seen.add(address);
        return accounts.map(() => 0n);
      },
      noncesAt: async (addresses: readonly string[]) => {
        for (const address of addresses) failIf(nodeFault?.(address, "nonce"));
        return addresses.map(() => forgotten);
      },
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
  const turn = { afterWalletId: undefined, unread: new Set<string>() };
  const leftOut: string[] = [];
  const compare = () => compareBalances(context, chain, turn, ({ message }) => leftOut.push(message));
  return { seen, asked, leftOut, comparedAt, unread: turn.unread, compare };
}

const token = { asset: "USDC", contract: "0xusdc" };

function failIf(error: Error | undefined): void {
  if (error !== undefined) throw error;
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

const reverted = () =>
  new NodeUnavailableError("No node gives a usable answer: error 3: execution reverted.");
const disagreeing = () => new NodesDisagreeError("One and two disagree.");

it.each<[string, NodeFault, string]>([
  [
    "a token gives no balance of one",
    (at, contract) => (at === nameOf(3) && contract === token.contract ? reverted() : undefined),
    "the balance of USDC",
  ],
  [
    "nodes disagree about the coins of one",
    (at, contract) => (at === nameOf(3) && contract === null ? disagreeing() : undefined),
    "the balance of ETH",
  ],
  [
    "nodes disagree about the nonce of one",
    (at, contract) => (at === nameOf(3) && contract === "nonce" ? disagreeing() : undefined),
    "the nonce",
  ],
])("compares all other wallets, and moves on, while %s", async (_, nodeFault, name) => {
  const { seen, leftOut, comparedAt, unread, compare } = createComparison(0, 40, 0, nodeFault);
  expect(await compare()).toBe("others");
  expect(await compare()).toBe("none");
  expect(seen.size).toBe(40);
  expect(new Set(comparedAt.values())).toEqual(new Set([100]));
  expect(leftOut).toHaveLength(1);
  expect(leftOut[0]).toContain(`Cannot compare ${name} of the wallet wlt_`);
  expect(leftOut[0]).toContain(nameOf(3));
  expect([...unread]).toEqual([nameOf(3)]);
});

it("compares nothing, and reports it as one failure, while no node has the state of the block", async () => {
  const { leftOut, compare } = createComparison(0, 40, 0, reverted);
  await expect(compare()).rejects.toThrow(NodeUnavailableError);
  expect(leftOut).toEqual([]);
});

it("compares nothing while nodes disagree about everything", async () => {
  const { compare } = createComparison(0, 40, 0, disagreeing);
  await expect(compare()).rejects.toThrow(NodesDisagreeError);
});
