import type { ObservedOutcome } from "../../../src/app/chain/chain-node.js";
import { falseToken, type ModelChain, modelDataFee, readBytes } from "../../harness/chain/model-chain.js";
import { chainBlocks, chainPayments, networks } from "../database/simulated-chain-tables.js";
import { keyOf } from "../database/simulated-tables.js";
import { adoptionBugs } from "./adoption-bugs.js";
import { type ChainBug, withBlocks, withOutcomes, withUnit } from "./chain-bug.js";
import { forkBugs } from "./fork-bugs.js";

/** As if the payment of this outcome had been paid. */
function asPaid(outcome: ObservedOutcome, chain: ModelChain): ObservedOutcome {
  const done = chain.blocks().flatMap(({ transactions }) => transactions);
  const intent = done.find(({ hash }) => hash === outcome.hash)?.intent;
  if (intent === undefined || intent.contract === null) return { ...outcome, success: true };
  const asset = intent.contract.endsWith("c1") ? "USDC.SIM" : falseToken;
  const { address: from, destination: to, amount } = intent;
  return {
    ...outcome,
    success: true,
    transfers: [{ hash: outcome.hash, ordinal: 1, asset, from, to, amount }],
  };
}

/** A payment that nothing stops. */
const free = {
  ...{ cancelRequested: false, isFrozen: false, isSuspended: false, isDisabled: false },
  ...{ isDelisted: false, isExpired: false },
};

export const chainBugs: readonly ChainBug[] = [
  {
    name: "bytes are sent before they are stored",
    firstSeed: 11,
    breaks: "what is on the chain is known",
    says: "has something else than was read from it before",
    signer: (signer, { chain }) => ({
      sign: async (intents) => {
        const signed = await signer.sign(intents);
        for (const one of signed) if ("bytes" in one) chain.send(one.bytes);
        return signed;
      },
    }),
  },
  {
    name: "a payment gets a new nonce after a lost answer",
    firstSeed: 9,
    breaks: "the nonce of a payment never changes",
    says: "something else was signed before (DIFFERENT_PAYMENT)",
    node: (node, { database }) => ({
      ...node,
      send: async (bytes) => {
        const answers = await node.send(bytes);
        for (const [index, answer] of answers.entries()) {
          if (answer !== "unknown") continue;
          const { tenantId, transactionId } = readBytes(bytes[index] ?? "");
          const table = database.tables.get(chainPayments.name);
          const row = table?.get(keyOf(tenantId, transactionId)) as object | undefined;
          if (row !== undefined)
            table?.set(keyOf(tenantId, transactionId), {
              ...row,
              stage: "ready",
              nonce: null,
              attempt: 0,
              wanted: 0,
            });
        }
        return answers;
      },
    }),
  },
  {
    name: "what was taken once is not sent again",
    firstSeed: 95,
    breaks: "bytes are sent until they are in a block",
    world: "poolless",
    says: "is still broadcast",
    node: (node) => {
      const taken = new Set<string>();
      return {
        ...node,
        send: async (bytes) => {
          const fresh = bytes.filter((one) => !taken.has(one));
          const answers = await node.send(fresh);
          for (const [index, one] of fresh.entries()) if (answers[index] === "taken") taken.add(one);
          return bytes.map((one) => (taken.has(one) ? "taken" : "refused"));
        },
      };
    },
  },
  {
    name: "a first receipt is taken as final",
    breaks: "nothing is final before the chain is",
    says: "was final and is no longer part of the chain",
    node: (node) => ({
      ...node,
      heads: async () => {
        const heads = await node.heads();
        return "halt" in heads ? heads : { ...heads, final: heads.latest };
      },
    }),
  },
  {
    name: "the pending nonce of a node is believed",
    firstSeed: 20,
    breaks: "no node is asked for the next nonce",
    says: "cannot be processed: chain_nonces has",
    ...withUnit((unit, { chain }) => ({
      lockSenders: async (wallets) => {
        const senders = await unit.lockSenders(wallets);
        const used = new Map(chain.head().nonces);
        const pending = chain.pool().flatMap(({ intent }) => intent ?? []);
        for (const { address, nonce } of pending)
          used.set(address, Math.max(used.get(address) ?? 0, nonce + 1));
        const wallet = await unit.findWallets([...used.keys()]);
        const nonceOf = new Map(
          [...wallet].map(([address, { walletId }]) => [walletId, used.get(address) ?? 0]),
        );
        return senders.map((sender) => ({ ...sender, nextNonce: nonceOf.get(sender.walletId) ?? 0 }));
      },
    })),
  },
  {
    name: "one of two nodes is believed",
    breaks: "no node alone has money credited",
    world: "lying",
    says: "was credited 1 times, and is 0 times on the chain",
    believesOneNode: true,
  },
  {
    name: "the cursor advances after half an answer",
    breaks: "every deposit is seen",
    says: "was credited 0 times, and is 1 times on the chain",
    ...withBlocks((block, { random, isHealed }) =>
      !isHealed() && random.chance(0.2) ? { ...block, transfers: [] } : block,
    ),
  },
  {
    name: "the place of a log in its block is its identity",
    firstSeed: 14,
    breaks: "a deposit is the same in another block",
    says: "is on the chain and has failed",
    ...withBlocks((block) => ({
      ...block,
      transfers: block.transfers.map((transfer, index) => ({
        ...transfer,
        ordinal: block.number * 1000 + index,
      })),
    })),
  },
  {
    name: "what was gathered is credited and stays gathered",
    breaks: "small deposits are credited once, as a sum",
    says: "were credited as sums",
    ...withUnit(() => ({ setGathered: () => undefined })),
  },
  {
    name: "a transfer between own wallets is a deposit too",
    breaks: "a payment between own wallets is not a deposit",
    says: "less than its books",
    ...withUnit((unit) => ({
      findAttempts: async (hashes) =>
        (await unit.findAttempts(hashes)).map((attempt) => ({
          ...attempt,
          destinationAccountId: "elsewhere",
        })),
    })),
  },
  {
    name: "the fee is without the data fee",
    breaks: "the ledger equals the chain",
    says: "ETH.SIM on the chain, 500 less than its books",
    ...withOutcomes((outcome) => ({ ...outcome, fee: outcome.fee - modelDataFee })),
  },
  {
    name: "a hold is released when a cancellation is requested",
    firstSeed: 37,
    breaks: "signed bytes that are out can still be paid",
    says: "is cancelled and was paid 1 times",
    cancelsAtOnce: true,
  },
  {
    name: "a stop is not seen between a nonce and its signature",
    firstSeed: 11,
    breaks: "what is stopped before it is signed is never paid",
    says: "are stored after its cancellation was requested",
    store: (store) => ({
      ...store,
      listUnsigned: async (...given) =>
        (await store.listUnsigned(...given)).map((one) => ({ ...one, ...free })),
      unitOfWork: (position, work) =>
        store.unitOfWork(position, (unit) =>
          work({
            ...unit,
            lockSenders: async (wallets) =>
              (await unit.lockSenders(wallets)).map((sender) => ({ ...sender, isFrozen: false })),
            lockPayments: async (keys) =>
              new Map([...(await unit.lockPayments(keys))].map(([id, state]) => [id, { ...state, ...free }])),
          }),
        ),
    }),
  },
  {
    name: "a reverted transaction is taken as a success",
    breaks: "only what has moved is completed",
    says: "is completed and was paid 0 times",
    ...withOutcomes((outcome, { chain }) => (outcome.success ? outcome : asPaid(outcome, chain))),
  },
  {
    name: "a token that returns false is believed",
    firstSeed: 5,
    breaks: "only what a log shows is completed",
    says: "in FALSE.SIM is completed and was paid 0 times",
    ...withOutcomes((outcome, { chain }) =>
      outcome.transfers.length === 0 && outcome.success ? asPaid(outcome, chain) : outcome,
    ),
  },
  {
    name: "the lease is not checked",
    firstSeed: 104,
    breaks: "one process drives a network",
    says: "less than its books",
    store: (store, { database }) => ({
      ...store,
      unitOfWork: (position, work) => {
        const row = database.tables.get(networks.name)?.get(position.lease.network) as {
          holder: string;
          fence: number;
        };
        const tip = [...(database.tables.get(chainBlocks.name) ?? new Map<string, unknown>())]
          .sort()
          .at(-1)?.[1];
        const lease = { ...position.lease, holder: row.holder, fence: String(row.fence) };
        return store.unitOfWork({ lease, tipHash: (tip as { hash: string }).hash }, work);
      },
    }),
  },
  ...adoptionBugs,
  ...forkBugs,
];
