import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { recordOnRail } from "../../../src/app/rails/record-rail-events.js";
import { sql } from "../../../src/store/core/sql.js";
import { outside } from "../../harness/chain/driven-chain.js";
import { modelCoin } from "../../harness/chain/model-chain.js";
import { modelAssets, modelNetwork } from "../../harness/chain/model-network.js";
import { startRestoredChain } from "../../harness/chain/start-restored-chain.js";

const { driven, restored, adopted } = await startRestoredChain();

it("of several events of a transaction in one unit of work, the last decides what is stored as open", async () => {
  const wallet = await driven.createFunded();
  adopted.estimateNothing();
  const id = await driven.accept(wallet, outside, modelCoin, 20n);
  await driven.begin(wallet, id);
  const { tenantId } = wallet;
  const reserve = (amount: bigint) =>
    ({ tenantId, id, event: { kind: "reserve_fee", fee: { asset: modelCoin, amount } } }) as const;
  const broadcast = { tenantId, id, event: { kind: "broadcast", hash: "0x01" } } as const;
  const deps = { assets: modelAssets, newUuid: randomUUID, now: Date.now };
  const events = [reserve(5n), reserve(7n), broadcast, reserve(9n)];
  const { outcomes } = await restored
    .settlementDeps()
    .settlements.unitOfWork((unit) => recordOnRail(deps, unit, modelNetwork, { events, deposits: [] }));
  expect(outcomes).toEqual(events.map(() => "recorded"));
  const rows = await driven.database.query(sql`
    SELECT state, fee_asset AS asset, fee_held AS held FROM open_transactions WHERE id = ${id}
  `);
  expect(rows).toEqual([{ state: "broadcast", asset: modelCoin, held: "9" }]);
});
