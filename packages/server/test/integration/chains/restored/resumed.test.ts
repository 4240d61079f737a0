import { expect, it } from "vitest";
import { NodeUnavailableError } from "../../../../src/app/chain/chain-node.js";
import { sql } from "../../../../src/store/core/sql.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";

const { driven, adopted } = await startRestoredChain();

it("does not adopt a wallet that was resumed before what was stated is answered", async () => {
  const wallet = await driven.createFunded();
  const { address, walletId } = wallet;
  const touch = () => driven.chain.pay([{ asset: modelCoin, from: outside, to: address, amount: 1n }]);
  driven.chain.credit(address, modelCoin, -400n);
  touch();
  await adopted.untilHalted(wallet, "BALANCE_BELOW_BOOKS");
  driven.ports.node = {
    ...driven.honest.node,
    noncesAt: async () => {
      throw new NodeUnavailableError("no state");
    },
  };
  await adopted.adopt(wallet, 0);
  expect(await adopted.readWallet(wallet)).toMatchObject({ code: "BALANCE_BELOW_BOOKS", stated: "0" });
  await adopted.resume(wallet);
  expect(await adopted.readWallet(wallet)).toMatchObject({ code: null, stated: null });
  Object.assign(driven.ports, driven.honest);
  touch();
  await adopted.untilHalted(wallet, "BALANCE_BELOW_BOOKS");
  const losses = await driven.database.query(sql`
    SELECT id FROM transactions WHERE source_account_id = ${walletId} AND reference LIKE 'missing%'
  `);
  expect(losses).toEqual([]);
});
