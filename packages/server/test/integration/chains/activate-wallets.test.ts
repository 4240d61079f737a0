import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWalletActivator } from "../../../src/app/chain/activate-wallets.js";
import { type Signer, SignerUnavailableError } from "../../../src/app/chain/signer.js";
import { nodeTimers } from "../../../src/runtime/loops/timers.js";
import { createChainWalletActivation } from "../../../src/store/chain/wallets/chain-wallets.js";
import { withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { insertWallet } from "../../../src/store/wallets/wallets.js";
import { keys } from "../../harness/access/segments.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";

const network = "eip155:31337";
const now = new Date("2026-11-16T12:00:00Z");

/** The loop that gives wallets their addresses, with signers that misbehave. */
describe("the activation of wallets on a chain", () => {
  let database: TestDatabase;
  let stop: () => Promise<void> = async () => undefined;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await stop();
    await database.drop();
  });

  const createTenant = async () => {
    const id = randomUUID();
    await database.query(sql`INSERT INTO tenants (id, name, created_at) VALUES (${id}, 'tenant', ${now})`);
    return id;
  };
  const createWallets = async (tenantId: string, count: number) => {
    for (let made = 0; made < count; made++)
      await insertWallet(database, {
        ...{ tenantId, id: randomUUID(), name: "w", purpose: "treasury", network, role: null },
        ...{
          state: "creating",
          frozen: false,
          frozenReason: null,
          version: 1,
          address: null,
          createdBy: null,
        },
        ...{ createdAt: now, updatedAt: now },
      });
  };
  const store = () =>
    createChainWalletActivation(withKeys(database, keys), createEventLog({ publish: () => undefined }));
  const start = (addressesOf: Signer["addressesOf"], listFollowed = async () => [network]) => {
    const activator = createWalletActivator({
      ...{
        listFollowed,
        store: store(),
        signer: { addressesOf },
        showAddress: (address: string) => address,
      },
      isUnavailable: (error) => error instanceof SignerUnavailableError,
      ...{
        onFailure: () => undefined,
        onError: () => undefined,
        now: () => now.getTime(),
        timers: nodeTimers,
      },
    });
    stop = activator.stop;
    activator.start();
    return activator;
  };
  const rows = () =>
    database.query<{ state: string; address: string | null; attempts: number; lastError: string | null }>(sql`
      SELECT w.state, c.address, w.attempts, w.last_error AS "lastError"
      FROM wallets w LEFT JOIN chain_wallets c ON c.tenant_id = w.tenant_id AND c.wallet_id = w.id
      WHERE w.network = ${network} ORDER BY w.state, w.id
    `);

  it("gives no two wallets the same address, whatever the signer says, and the others become active", async () => {
    const tenants = [await createTenant(), await createTenant()];
    for (const tenantId of tenants) await createWallets(tenantId, 2);
    const repeated = `0x${"1".repeat(40)}`;
    const [first] = tenants;
    start(async (wallets) =>
      wallets.map(({ tenantId, walletId }) =>
        tenantId === first ? repeated : `0x${walletId.replaceAll("-", "").padStart(40, "0")}`,
      ),
    );
    const done = await eventually(rows, (all) =>
      all.every(({ state, lastError }) => state === "active" || lastError !== null),
    );
    expect(done.map(({ state }) => state)).toEqual(["active", "active", "active", "creating"]);
    expect(new Set(done.map(({ address }) => address)).size).toBe(4);
    expect(done[3]).toMatchObject({ address: null, attempts: 1 });
  });

  it("records nothing against wallets while the signer is unavailable", async () => {
    await createWallets(await createTenant(), 3);
    let asked = 0;
    start(async () => {
      asked += 1;
      throw new SignerUnavailableError("down");
    });
    await eventually(
      () => asked,
      (times) => times >= 2,
    );
    expect((await rows()).map(({ state, attempts }) => [state, attempts])).toEqual([
      ["creating", 0],
      ["creating", 0],
      ["creating", 0],
    ]);
  });

  it("gives no address before the network was reached, because a deposit to it would not be noticed", async () => {
    await createWallets(await createTenant(), 1);
    const followed: string[] = [];
    let looks = 0;
    const activator = start(
      async (wallets) => wallets.map(() => `0x${"2".repeat(40)}`),
      async () => {
        looks += 1;
        return followed;
      },
    );
    await eventually(
      () => {
        activator.wake();
        return looks;
      },
      (times) => times >= 3,
    );
    expect((await rows()).map(({ state }) => state)).toEqual(["creating"]);
    followed.push(network);
    activator.wake();
    await eventually(rows, ([wallet]) => wallet?.state === "active");
  });

  it("takes the same number of each tenant, so that one which creates many does not delay another", async () => {
    const [many, few] = [await createTenant(), await createTenant()];
    await createWallets(many, 30);
    await createWallets(few, 1);
    const listed = await store().listCreating([network], 10, now);
    expect(listed.length).toBeLessThanOrEqual(10);
    expect(listed.some(({ tenantId }) => tenantId === few)).toBe(true);
  });
});
