import type { NonceUse } from "../../../src/app/chain/nonce-use.js";
import { hashOfBytes, writeBytes } from "../../harness/chain/model-chain.js";
import { type ChainBug, withUnit } from "./chain-bug.js";

/** As if somebody else had used the nonce. */
function asStranger(use: NonceUse | undefined): NonceUse | undefined {
  return use === undefined
    ? undefined
    : { ...use, outcome: { ...use.outcome, hash: "0xstranger" }, signed: null };
}

/** What can go wrong when the books follow the chain: after a restore, or if a node has left something out. */
export const adoptionBugs: readonly ChainBug[] = [
  {
    name: "what was received is credited while an own payment of it is open",
    firstSeed: 27,
    breaks: "a payment between own wallets is credited once, also if a node has left it out",
    world: "lying",
    says: "were recorded as missing",
    ...withUnit(() => ({ listAwaiting: async () => [] })),
  },
  {
    name: "a payment fails because no block has shown it",
    firstSeed: 30,
    breaks: "what a node leaves out is no evidence",
    world: "lying",
    says: "is failed and was paid 1 times",
    node: (node) => ({
      ...node,
      findNonceUse: async (...given) => asStranger(await node.findNonceUse(...given)),
    }),
  },
  {
    name: "bytes that the books have forgotten are those of somebody else",
    firstSeed: 49,
    breaks: "a restored database fails no payment that was made",
    world: "rewound",
    says: "is failed and was paid 1 times",
    node: (node) => ({
      ...node,
      findNonceUse: async (...given) => {
        const use = await node.findNonceUse(...given);
        return use === undefined ? undefined : { ...use, signed: null };
      },
    }),
  },
  {
    name: "nonces are given although the chain is ahead of the books, by a signer without a memory",
    firstSeed: 20,
    breaks: "a restored database pays nothing twice",
    world: "rewound",
    says: "transactions on the chain are for",
    paysWaiting: true,
    signer: () => ({
      signedFrom: async (wallets) => wallets.map(() => []),
      sign: async (intents) =>
        intents.map((intent) => {
          const bytes = writeBytes(intent);
          return { bytes, hash: hashOfBytes(bytes) };
        }),
    }),
  },
  {
    name: "what the signer has bound to used nonces is not looked for",
    firstSeed: 27,
    breaks:
      "a payment that a restored database has forgotten to be paid is completed when the wallet is adopted",
    world: "rewound",
    says: "is processing and was paid 1 times",
    paysWaiting: true,
    ...withUnit(() => ({ listForgotten: async () => [] })),
  },
  {
    name: "the nonces of the books stay where they are",
    firstSeed: 170,
    breaks: "a wallet that is adopted goes on",
    world: "rewound",
    says: "are not all known",
    ...withUnit(() => ({ adoptNonce: () => undefined })),
  },
];
