import { expect, it } from "vitest";
import { highestNonce, type Signer } from "../../../../src/app/chain/signer.js";
import { sql } from "../../../../src/store/core/sql.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

const { driven, restored } = await startRestoredChain();

it("confirms the others if a wallet has a final nonce that the signer refuses, and says which one it is", async () => {
  const [faulty, other] = [await driven.createFunded(), await driven.createFunded()];
  const signedFrom: Signer["signedFrom"] = async (wallets) => {
    if (wallets.some(({ nonce }) => nonce > highestNonce))
      throw new Error("The signer refused /signed with 422.");
    return await driven.honest.signer.signedFrom(wallets);
  };
  driven.ports.signer = { ...driven.honest.signer, signedFrom };
  await driven.database.query(sql`
    UPDATE chain_wallets SET final_nonce = ${highestNonce + 1}, next_nonce = ${highestNonce + 1}
    WHERE wallet_id = ${faulty.walletId}
  `);
  await restored.recover();
  const id = await driven.pay(other, outside, modelCoin, 10n);
  await restored.untilConfirmed(other);
  await driven.until(id, "broadcast");
  const shortages = await eventually(
    async () => driven.shortages,
    (list) => list.some((reason) => reason.includes(String(highestNonce + 1))),
  );
  expect(shortages).toContain(
    "The final nonce of the wallet is 4294967296, which no transaction can have. Restore its row in chain_wallets from a backup.",
  );
  expect(driven.errors.map(String).filter((error) => error.includes("422"))).toEqual([]);
});
