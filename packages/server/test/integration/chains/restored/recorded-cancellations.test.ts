import { afterAll, beforeAll, expect, it } from "vitest";
import { insertStop } from "../../../../src/store/access/stops/stop-records.js";
import { sql } from "../../../../src/store/core/sql.js";
import { type DrivenChain, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { createRestoredChain } from "../../../harness/chain/restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

const supplier = `0x${"6".repeat(40)}`;

let driven: DrivenChain;
let restored: ReturnType<typeof createRestoredChain>;
beforeAll(async () => {
  driven = await startDrivenChain();
  restored = createRestoredChain(driven);
});
afterAll(() => driven.stop());

/** The steps of docs/operating/faults.md for a cancellation of which the database took only the record. */
it.each([
  ["has no nonce yet", false],
  ["has a nonce", true],
])(
  "a payment that %s and whose cancellation was recorded alone ends as cancelled by the documented steps",
  async (_, hasNonce) => {
    const wallet = await driven.createFunded();
    const id = await driven.accept(wallet, supplier, modelCoin, 20n);
    const own = sql`wallet_id = ${wallet.walletId}`;
    const resume = async () => {
      await driven.database.query(
        sql`UPDATE chain_wallets SET halted_reason = NULL, halted_at = NULL, halted_code = NULL WHERE ${own}`,
      );
      driven.wake();
    };
    // Nothing of it is signed.
    const { signer } = driven.ports;
    driven.ports.signer = { ...signer, sign: () => Promise.reject(new Error("the signer is unavailable")) };
    if (!hasNonce)
      await driven.database.query(
        sql`UPDATE chain_wallets SET halted_reason = 'brake', halted_at = now(), halted_code = 'SIGNER_REFUSED' WHERE ${own}`,
      );
    await restored.look(wallet, id);
    expect((await driven.read(id)).state).toBe("processing");
    if (hasNonce)
      await eventually(
        () => driven.nonceOf(id),
        (nonce) => nonce !== null,
      );
    await driven.database.query(insertStop({ tenantId: wallet.tenantId, subjectId: id }, {}));
    driven.ports.signer = signer;
    await resume();
    await eventually(
      () =>
        driven.database.query<{ code: string | null }>(
          sql`SELECT halted_code AS code FROM chain_wallets WHERE ${own}`,
        ),
      ([row]) => row?.code === "PAYMENT_TAMPERED",
    );

    await restored.cancel(wallet, id);
    const requested = await driven.database.query(
      sql`SELECT cancel_requested AS "isRequested" FROM open_transactions WHERE id = ${id}`,
    );
    expect(requested).toEqual([{ isRequested: true }]);
    const removed = await driven.database.query(
      sql`DELETE FROM stop_records WHERE subject_id = ${id} AND stopped AND mac IS NULL RETURNING number`,
    );
    expect(removed).toHaveLength(1);
    await resume();
    await eventually(
      async () => {
        driven.mine();
        return driven.read(id);
      },
      ({ state }) => state === "cancelled",
    );
    await driven.settle();
    expect(balanceOf(driven.chain.head().balances, supplier, modelCoin)).toBe(0n);
  },
);
