import { externalAccountId } from "@bursar/domain";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelChainNetwork, modelNetwork } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

/** A contract that no two nodes execute in the same way. */
const trap = `0x${"7a".repeat(20)}`;

describe("a payment behind others of its wallet that cannot go on", () => {
  let driven: DrivenChain;
  beforeAll(async () => {
    driven = await startDrivenChain();
  });
  afterEach(() => {
    Object.assign(driven.ports, driven.honest);
    driven.errors.splice(0);
  });
  afterAll(() => driven.stop());

  const pay = (wallet: ChainWallet, to: string) => driven.pay(wallet, to, modelCoin, 1n);

  async function expectPaid(id: string): Promise<void> {
    await eventually(
      async () => {
        driven.mine();
        return (await driven.read(id)).state;
      },
      (state) => state === "completed",
    );
  }

  it("is paid if no node can estimate more of them than may be in flight", async () => {
    const wallet = await driven.createFunded();
    const { estimate } = driven.honest.node;
    driven.ports.node = {
      ...driven.honest.node,
      estimate: async (drafts) =>
        (await estimate(drafts)).map((one, index) =>
          drafts[index]?.destination === trap ? { refused: "UNAVAILABLE" } : one,
        ),
    };
    const trapped: string[] = [];
    for (let count = 0; count < 2 * modelChainNetwork.inFlightMax; count++)
      trapped.push(await pay(wallet, trap));
    const id = await pay(wallet, outside);
    await expectPaid(id);
    expect(await Promise.all(trapped.map(driven.nonceOf))).toEqual(trapped.map(() => null));
    // They are tried again.
    Object.assign(driven.ports, driven.honest);
    await expectPaid(trapped[0] ?? "");
  });

  it("is paid if a disabled client has requested more of them than are looked at at once", async () => {
    const wallet = await driven.createFunded();
    const { tenantId, walletId } = wallet;
    const clientId = "00000000-0000-7000-8000-00000000c11e";
    await driven.database.query(sql`
      INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, created_at, updated_at, authority_changed_at)
      VALUES (${clientId}, ${tenantId}, 'stolen', '{}', 'disabled', false, now(), now(), now())
    `);
    await driven.database.query(sql`
      WITH given AS (SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid AS id FROM generate_series(1, 2500) AS n),
      accepted AS (
        INSERT INTO transactions (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, kind,
          source_account_id, destination_account_id, destination_address, created_at)
        SELECT ${tenantId}, id, id, '\\x00', ${clientId}, 'stolen', ${modelCoin}, 1, 'payout', ${walletId}, ${externalAccountId(modelNetwork)},
          ${outside}, now() FROM given),
      opened AS (INSERT INTO open_transactions (tenant_id, id, state, version) SELECT ${tenantId}, id, 'processing', 2 FROM given)
      INSERT INTO chain_payments (tenant_id, transaction_id, network, wallet_id, stage)
      SELECT ${tenantId}, id, ${modelNetwork}, ${walletId}, 'ready' FROM given
    `);
    await expectPaid(await pay(wallet, outside));
    // It begins with the first ones again: they go on when the client is enabled.
    await driven.database.query(sql`UPDATE clients SET state = 'active' WHERE id = ${clientId}`);
    const halted = () => driven.halts();
    await eventually(halted, (halts) => halts.some(({ code }) => code === "PAYMENT_TAMPERED"));
  });
});
