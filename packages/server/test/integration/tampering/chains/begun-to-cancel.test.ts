import { compilePolicy, createAssetRegistry, createTimeZones } from "@bursar/domain";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createIntegrityKeys } from "../../../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../../../src/credentials/keyring.js";
import { createSealing } from "../../../../src/credentials/sealing.js";
import type { RowMac } from "../../../../src/store/access/row-integrity.js";
import { withKeys } from "../../../../src/store/core/database.js";
import { sql } from "../../../../src/store/core/sql.js";
import { resealTransactions } from "../../../../src/store/transactions/reseal-transactions.js";
import { purposeOfBegun } from "../../../../src/store/transactions/transaction-integrity.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { type DrivenChain, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { createRestoredChain } from "../../../harness/chain/restored-chain.js";
import { sealOpenTransactions } from "../../../harness/database/seal-rows.js";
import { createServiceRole, type ServiceRole } from "../../../harness/database/service-role.js";
import { eventually } from "../../../harness/eventually.js";

const { policy: rejecting } = compilePolicy(
  { rules: [], default: { action: "reject", reason: "no" } },
  {
    ...{ assets: createAssetRegistry([]), networks: new Set<string>(), markets: new Set<string>() },
    timeZones: createTimeZones(),
  },
);
if (rejecting === undefined) throw new Error("the policy does not compile");
const supplier = `0x${"5".repeat(40)}`;

/** The writer has the rights of the service's role, and no master key. The cancellation is its own, and so is its end. */
describe("a payment that the engine has begun only to be cancelled", () => {
  let driven: DrivenChain;
  let restored: ReturnType<typeof createRestoredChain>;
  let role: ServiceRole;
  let wallet: ChainWallet;
  let id: string;
  beforeAll(async () => {
    driven = await startDrivenChain();
    restored = createRestoredChain(driven);
    role = await createServiceRole(driven.database);
    // Who requested what waits for approval.
    await driven.database.query(sql`
      INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, created_at, updated_at, authority_changed_at)
      VALUES (${driven.tenantId}, ${driven.tenantId}, 'client', '{}', 'active', false, now(), now(), now())
    `);
  });
  afterAll(async () => {
    await role?.drop();
    await driven.stop();
  });
  beforeEach(async () => {
    wallet = await driven.createFunded();
    id = await driven.accept(wallet, supplier, modelCoin, 20n);
  });

  const halt = (code: string) =>
    role.run(`UPDATE chain_wallets SET halted_reason = 'brake', halted_at = now(), halted_code = '${code}'
      WHERE wallet_id = '${wallet.walletId}'`);
  const goOn = async () => {
    await role.run(`UPDATE chain_wallets SET halted_reason = NULL, halted_at = NULL, halted_code = NULL
      WHERE wallet_id = '${wallet.walletId}'`);
    driven.wake();
  };
  const requestCancel = (isRequested: boolean) =>
    role.run(`UPDATE open_transactions SET cancel_requested = ${isRequested} WHERE id = '${id}'`);
  /** The wallet seems to wait for the operator, so that the engine begins what is to be cancelled. */
  const begin = async () => {
    await halt("SIGNER_REFUSED");
    await requestCancel(true);
    await restored.look(wallet, id, rejecting);
    expect((await driven.read(id)).state).toBe("processing");
  };
  const paid = () => balanceOf(driven.chain.head().balances, supplier, modelCoin);

  it.each([
    ["waits for approval", () => driven.askApproval(wallet, id)],
    [
      "has to be judged",
      async () => {
        await driven.database.query(
          sql`UPDATE open_transactions SET needs_judgement = true WHERE id = ${id}`,
        );
        await sealOpenTransactions(driven.database, driven.keys, sql`t.id = ${id}`);
      },
    ],
  ])("although it %s, is not paid when that is no longer requested", async (_, prepare) => {
    await prepare();
    await begin();
    await requestCancel(false);
    await goOn();
    const ended = await eventually(
      () => driven.read(id),
      ({ state }) => state !== "processing",
    );
    await driven.settle();
    expect({ state: ended.state, paid: paid() }).toEqual({ state: "cancelled", paid: 0n });
  });

  it("uses the nonce that the signer has bound to it for nothing but an empty transaction", async () => {
    await driven.askApproval(wallet, id);
    await restored.signLost(wallet, id);
    await restored.recover();
    await begin();
    await requestCancel(false);
    await goOn();
    await driven.inPool(1);
    expect(driven.chain.pool().map(({ intent }) => intent?.purpose)).toEqual(["cancellation"]);

    // Nor is it replaced by the payment, if the last attempt is said to have been one.
    await role.run(`
      INSERT INTO chain_attempts SELECT network, 'forged', tenant_id, transaction_id, 2, 'payment', bytes, gas_limit, max_fee,
        max_tip, now() FROM chain_attempts WHERE transaction_id = '${id}';
      UPDATE chain_payments SET attempt = 2, wanted = 2, terms_number = -100 WHERE transaction_id = '${id}'`);
    driven.wake();
    const halts = await eventually(driven.halts, (all) => all.length > 0);
    expect(halts.map(({ code }) => code)).toEqual(["PAYMENT_TAMPERED"]);
    await driven.settle();
    expect(paid()).toBe(0n);
  });

  it("stays one after the master key was replaced", async () => {
    await driven.askApproval(wallet, id);
    await begin();
    await driven.stopDrivers();
    const [oldKey, newKey] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
    const keysOf = (list: Buffer[]) => createIntegrityKeys(createSealing(createKeyring(list)));
    await resealTransactions(withKeys(driven.database, keysOf([newKey, oldKey])));
    const [row] = await driven.database.query<RowMac>(
      sql`SELECT key_id AS "keyId", mac FROM chain_payments WHERE transaction_id = ${id}`,
    );
    const { tenantId, walletId } = wallet;
    expect(purposeOfBegun(keysOf([newKey]), { tenantId, id, walletId }, row as RowMac)).toBe("cancel");
  });
});
