import { expect, it } from "vitest";
import { modelCoin } from "../../../../test/harness/chain/model-chain.js";
import { modelChainNetwork } from "../../../../test/harness/chain/model-network.js";
import { compareAll } from "./compare-balances.js";

const wallet = { tenantId: "tenant", walletId: "wallet", address: "0xaa" };

function compare(nonce: number) {
  const balances = new Map([[modelCoin, { booked: 100n, gathered: 0n }]]);
  const books = [{ ...wallet, finalNonce: 3, isHalted: false, balances }];
  const onChain = [{ nonce, balances: new Map([[modelCoin, 150n]]) }];
  const { surplus, differences } = compareAll({ network: modelChainNetwork }, [wallet], books, onChain);
  return { surplus: surplus.map(({ amount }) => amount), codes: differences.map(({ code }) => code) };
}

it("takes what a wallet has above its books for a deposit only if its nonce is the one of the books", () => {
  expect(compare(3)).toEqual({ surplus: [50n], codes: [] });
  expect(compare(2)).toEqual({ surplus: [], codes: ["NONCE_BELOW_BOOKS"] });
  expect(compare(4)).toEqual({ surplus: [], codes: ["NONCE_USED_ELSEWHERE"] });
});
