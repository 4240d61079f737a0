import { showId } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { operatorActorId } from "../../../../src/app/events/actor.js";
import { createSweepStore } from "../../../../src/store/access/sweeps.js";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin, readBytes } from "../../../harness/chain/model-chain.js";
import { stoppingOf } from "../../../harness/chain/stopping.js";
import { createServiceRole, type ServiceRole } from "../../../harness/database/service-role.js";
import { eventually } from "../../../harness/eventually.js";

/** The writer has the rights of the service's role, and no master key. It can read the signed bytes and send them to a node; the service does not. */
describe("a stopped payment that is signed and in no block, which a writer to the database releases", () => {
  let driven: DrivenChain;
  let stopping: ReturnType<typeof stoppingOf>;
  let role: ServiceRole;
  let wallet: ChainWallet;
  let id: string;
  let paidBefore: bigint;
  /** The purposes of what the service has sent while no node answered, and since. */
  let sent: string[];
  beforeAll(async () => {
    driven = await startDrivenChain();
    stopping = stoppingOf(driven);
    role = await createServiceRole(driven.database);
  });
  afterAll(async () => {
    await role?.drop();
    await driven.stop();
  });
  beforeEach(async () => {
    wallet = await driven.createFunded();
    paidBefore = paid();
    id = await driven.pay(wallet, outside, modelCoin, 1000n);
    await driven.inPool(1);
    for (const { hash } of driven.chain.pool()) driven.chain.drop(hash);
    sent = [];
    nodesAnswer(false);
  });

  const paid = () => balanceOf(driven.chain.head().balances, outside, modelCoin);
  /** The signer too: otherwise an empty transaction is written at once. */
  function nodesAnswer(isAnswering: boolean): void {
    driven.ports.signer = isAnswering
      ? driven.honest.signer
      : { sign: () => Promise.reject(new Error("the signer is down")) };
    driven.ports.node = {
      ...driven.honest.node,
      send: async (bytes) => {
        sent.push(...bytes.map((one) => readBytes(one).purpose));
        return isAnswering ? await driven.honest.node.send(bytes) : bytes.map(() => "unknown" as const);
      },
    };
  }
  const forgeEnd = (subjectId: string) => `
    INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
    SELECT tenant_id, subject_id, max(number) + 1, false, now() FROM stop_records WHERE subject_id = '${subjectId}'
    GROUP BY tenant_id, subject_id`;
  const recordStop = (subjectId: string) =>
    driven.database.query(sql`
      INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
      VALUES (${driven.tenantId}, ${subjectId}, 1, true, now())`);
  const clientOf = async () => {
    const [row] = await driven.database.query<{ clientId: string }>(
      sql`SELECT client_id AS "clientId" FROM transactions WHERE id = ${id}`,
    );
    return row?.clientId ?? "";
  };
  const haltCode = async () => {
    const [halt] = (await driven.halts()).filter(({ object }) => object === showId("wlt", wallet.walletId));
    return halt?.code;
  };

  it.each([
    [
      "a freeze",
      async () => {
        await stopping.freeze(wallet);
        await role.run(
          `UPDATE wallets SET frozen = false WHERE id = '${wallet.walletId}'; ${forgeEnd(wallet.walletId)}`,
        );
      },
    ],
    [
      "a disabled client",
      async () => {
        await stopping.disable(id);
        const clientId = await clientOf();
        await recordStop(clientId);
        await role.run(`UPDATE clients SET state = 'active' WHERE id = '${clientId}'; ${forgeEnd(clientId)}`);
      },
    ],
    [
      "a suspension",
      async () => {
        await stopping.suspend();
        await role.run(
          `UPDATE tenants SET suspended_at = NULL WHERE id = '${driven.tenantId}'; ${forgeEnd(driven.tenantId)}`,
        );
      },
    ],
  ])("is not sent again after a forged end of %s, and its wallet halts", async (_, release) => {
    await release();
    sent = [];
    nodesAnswer(true);
    driven.mine(3);
    expect(await eventually(haltCode, (code) => code !== undefined)).toBe("PAYMENT_TAMPERED");
    driven.mine(5);
    await driven.settle();
    expect({ sent: sent.filter((purpose) => purpose !== "cancellation"), paid: paid() - paidBefore }).toEqual(
      {
        sent: [],
        paid: 0n,
      },
    );
    await driven.database.query(sql`DELETE FROM stop_records WHERE NOT stopped`);
    await stopping.resume();
  });

  it.each([
    ["by its client", () => driven.requestCancel(wallet, id)],
    [
      "with its client",
      async () => {
        const sweeps = createSweepStore(driven.keyed);
        const sweep = {
          ...{ tenantId: driven.tenantId, clientId: await clientOf(), kind: "cancel_transactions" as const },
          ...{ requestedBy: operatorActorId, requestedAt: new Date() },
        };
        await sweeps.requestRailCancels(sweep, [id]);
      },
    ],
  ])(
    "that was cancelled %s is cancelled although the request is taken back in its row",
    async (_, cancel) => {
      await cancel();
      await role.run(`UPDATE open_transactions SET cancel_requested = false WHERE id = '${id}'`);
      sent = [];
      nodesAnswer(true);
      driven.wake();
      await eventually(
        () => driven.chain.pool().map(({ intent }) => intent?.purpose),
        ([purpose]) => purpose === "cancellation",
      );
      await driven.settle();
      await driven.until(id, "cancelled");
      expect({ sent: new Set(sent), paid: paid() - paidBefore }).toEqual({
        sent: new Set(["cancellation"]),
        paid: 0n,
      });
    },
  );

  it("is not paid although its cancellation, which was signed, is taken back in its rows", async () => {
    nodesAnswer(true);
    await driven.requestCancel(wallet, id);
    driven.wake();
    await eventually(
      () => stopping.attempts(id),
      (attempts) => attempts.at(-1) === "cancellation",
    );
    await eventually(
      () => driven.chain.pool().length,
      (length) => length > 0,
    );
    for (const { hash } of driven.chain.pool()) driven.chain.drop(hash);
    await role.run(`UPDATE open_transactions SET cancel_requested = false WHERE id = '${id}';
      UPDATE chain_payments SET attempt = 1, wanted = 1, purpose = 'payment', stop_reason = NULL, stopped_by = NULL
      WHERE transaction_id = '${id}'`);
    sent = [];
    driven.wake();
    driven.mine(8);
    await driven.settle();
    const seen = await eventually(
      async () => ({ code: await haltCode(), state: (await driven.read(id)).state }),
      ({ code, state }) => code !== undefined || state === "cancelled" || state === "completed",
    );
    // The signer signs no second cancellation with other fees under the same number of an attempt.
    expect(seen).toEqual({ code: "PAYMENT_AT_FAULT", state: "broadcast" });
    expect({ sent: sent.filter((purpose) => purpose !== "cancellation"), paid: paid() - paidBefore }).toEqual(
      {
        sent: [],
        paid: 0n,
      },
    );
  });
});
