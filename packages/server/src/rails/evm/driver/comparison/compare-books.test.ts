import { expect, it } from "vitest";
import { modelCoin } from "../../../../../test/harness/chain/model-chain.js";
import { modelChainNetwork } from "../../../../../test/harness/chain/model-network.js";
import { compareAll } from "./compare-books.js";

const wallet = { tenantId: "tenant", walletId: "wallet", address: "0xaa" };

const noTokens = modelChainNetwork.tokens.map(({ asset }) => [asset, 0n] as const);

function compare(nonce: number, statedNonce: number | null = null, tokens = noTokens) {
  const balances = new Map([[modelCoin, { booked: 100n, gathered: 0n }]]);
  const books = [{ ...wallet, finalNonce: 3, lowestOpen: null, isHalted: false, statedNonce, balances }];
  const onChain = [{ nonce, balances: new Map([[modelCoin, 150n], ...tokens]) }];
  const { surplus, differences, accepted } = compareAll(
    { network: modelChainNetwork },
    [wallet],
    books,
    onChain,
  );
  const codes = differences.map(({ code }) => code);
  return { surplus: surplus.map(({ amount }) => amount), codes, isAccepted: accepted.length === 1 };
}

it("takes what a wallet has above its books for a deposit only if its nonce is the one of the books", () => {
  expect(compare(3)).toMatchObject({ surplus: [50n], codes: [] });
  expect(compare(2)).toMatchObject({ surplus: [], codes: ["NONCE_BELOW_BOOKS"] });
  expect(compare(4)).toMatchObject({ surplus: [], codes: ["NONCE_USED_ELSEWHERE"] });
});

it("accepts a nonce above that of the books only if the operator has stated exactly this one", () => {
  expect(compare(4, 4)).toEqual({ surplus: [], codes: [], isAccepted: true });
  expect(compare(5, 4)).toEqual({ surplus: [], codes: ["NONCE_USED_ELSEWHERE"], isAccepted: false });
  expect(compare(4, 5)).toEqual({ surplus: [], codes: ["NONCE_USED_ELSEWHERE"], isAccepted: false });
  // Also if nothing else differs: a statement is either accepted or answered.
  expect(compare(3, 2)).toEqual({ surplus: [], codes: ["NONCE_USED_ELSEWHERE"], isAccepted: false });
  // Never below: then payments that have ended could be paid again.
  expect(compare(2, 2)).toEqual({ surplus: [], codes: ["NONCE_BELOW_BOOKS"], isAccepted: false });
});

it("credits what is known while a balance is not, and neither accepts nor answers a statement", () => {
  expect(compare(3, null, [])).toEqual({ surplus: [50n], codes: [], isAccepted: false });
  expect(compare(4, null, []).codes).toEqual(["NONCE_USED_ELSEWHERE"]);
  expect(compare(4, 4, [])).toEqual({ surplus: [], codes: [], isAccepted: false });
  expect(compare(5, 4, [])).toEqual({ surplus: [], codes: [], isAccepted: false });
});
