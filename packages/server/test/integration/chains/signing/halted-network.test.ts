import { afterEach, beforeEach, expect, it } from "vitest";
import { SignerUnavailableError } from "../../../../src/app/chain/signer.js";
import { sql } from "../../../../src/store/core/sql.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { eventually } from "../../../harness/eventually.js";

let driven: DrivenChain;
beforeEach(async () => {
  driven = await startDrivenChain();
});
afterEach(() => driven.stop());

it("signs nothing in the step in which the network is halted", async () => {
  const wallet = await driven.createFunded();
  let isHalted = false;
  let signed = 0;
  driven.ports.signer = {
    sign: async (intents) => {
      if (!isHalted) throw new SignerUnavailableError("not yet");
      signed += 1;
      return await driven.honest.signer.sign(intents);
    },
  };
  const id = await driven.pay(wallet, outside, modelCoin, 1n);
  await eventually(
    () => driven.nonceOf(id),
    (nonce) => nonce === 0,
  );
  const { node } = driven.honest;
  driven.ports.node = {
    ...node,
    heads: async (settledNumber) => {
      // As wallets are confirmed.
      if (settledNumber === undefined) isHalted = true;
      return isHalted ? { halt: "Nodes disagree." } : await node.heads(settledNumber);
    },
  };
  await driven.database.query(
    sql`UPDATE chain_wallets SET confirmed_epoch = 0 WHERE wallet_id = ${wallet.walletId}`,
  );
  await eventually(
    async () => driven.errors.map(String),
    (errors) => errors.some((error) => error.includes("is halted: Nodes disagree.")),
  );
  expect(signed).toBe(0);
  expect((await driven.read(id)).state).toBe("processing");
});
