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
  let errors: string[] = [];
  let [counts, clockMs] = [0, now.getTime()];
  beforeEach(async () => {
    database = await createTestDatabase();
    errors = [];
    [counts, clockMs] = [0, now.getTime()];
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
  const store = () => {
    const log = createEventLog({ publish: () => undefined });
    const activation = createChainWalletActivation(withKeys(database, keys), log);
    const countAddressed = () => {
      counts += 1;
      return activation.countAddressed();
    };
    return { ...activation, countAddressed };
  };
  /** A signer that remembers all wallets. */
  const remembering: Pick<Signer, "signedFrom" | "countWallets"> = {
    signedFrom: async (wallets) => wallets.map(() => []),
    countWallets: async () => ({ count: Number.MAX_SAFE_INTEGER, runId: "1" }),
  };
  const start = (
    addressesOf: Signer["addressesOf"],
    listFollowed = async () => [network],
    { signedFrom, countWallets } = remembering,
  ) => {
    const activator = createWalletActivator({
      ...{
        listFollowed,
        store: store(),
        signer: { addressesOf, signedFrom, countWallets },
        showAddress: (address: string) => address,
      },
      isUnavailable: (error) => error instanceof SignerUnavailableError,
      ...{
        onFailure: () => undefined,
        onError: (error) => errors.push((error as Error).message),
        now: () => clockMs,
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

  /** A journal of wallets, in the order in which they got the keys of a seed. */
  const signerOf = (journal: string[]) => {
    let runs = 1;
    const keyOf = (walletId: string) => `0x${String(journal.indexOf(walletId) + 1).padStart(40, "0")}`;
    const addressesOf: Signer["addressesOf"] = async (wallets) => {
      for (const { walletId } of wallets) if (!journal.includes(walletId)) journal.push(walletId);
      return wallets.map(({ walletId }) => keyOf(walletId));
    };
    const answer = (walletId: string) =>
      journal.includes(walletId)
        ? []
        : { refused: "WALLET_UNKNOWN" as const, reason: `The signer has no wallet ${walletId}.` };
    const rest: typeof remembering = {
      signedFrom: async (wallets) => wallets.map(({ walletId }) => answer(walletId)),
      countWallets: async () => ({ count: journal.length, runId: String(runs) }),
    };
    const restart = () => void runs++;
    return { addressesOf, rest, restart };
  };
  const follow = async () => [network];

  it.each<[whose: string, isNew: boolean, others: number]>([
    ["the same tenant", false, 5],
    ["another tenant", true, 0],
  ])(
    "gives no address to a wallet of %s while the signer has forgotten some",
    async (_whose, isNew, others) => {
      const tenantId = await createTenant();
      const journal: string[] = Array.from({ length: others }, () => randomUUID());
      const { addressesOf, rest } = signerOf(journal);
      await createWallets(tenantId, 2);
      start(addressesOf, follow, rest);
      await eventually(rows, (all) => all.every(({ state }) => state === "active"));
      await stop();
      // Its journal is restored from an earlier backup: the newest wallet is not in it.
      const [newest] = await store().listNewest([tenantId]);
      const forgotten = journal.splice(journal.indexOf(newest?.id ?? ""));
      const kept = [...journal];
      await createWallets(isNew ? await createTenant() : tenantId, 1);
      const activator = start(addressesOf, follow, rest);
      await eventually(
        () => errors,
        (all) => all.some((message) => message.includes("The signer does not know all wallets")),
      );
      // No new wallet has the key of the forgotten one.
      expect(journal).toEqual(kept);
      journal.push(...forgotten);
      activator.wake();
      const done = await eventually(rows, (all) => all.every(({ state }) => state === "active"));
      expect(new Set(done.map(({ address }) => address)).size).toBe(3);
      expect(done.map(({ attempts }) => attempts)).toEqual([0, 0, 0]);
    },
  );

  it("notices that the signer has forgotten what was made since the last look", async () => {
    const journal: string[] = [];
    const { addressesOf, rest } = signerOf(journal);
    await createWallets(await createTenant(), 1);
    const activator = start(addressesOf, follow, rest);
    await eventually(rows, (all) => all.every(({ state }) => state === "active"));
    const forgotten = journal.splice(0);
    await createWallets(await createTenant(), 1);
    activator.wake();
    await eventually(
      () => [...errors, ...journal],
      (all) => all.length > 0,
    );
    expect(journal).toEqual([]);
    expect(errors.at(-1)).toContain("A signer of another seed cannot learn them");
    journal.push(...forgotten);
    activator.wake();
    const done = await eventually(rows, (all) => all.every(({ state }) => state === "active"));
    expect(new Set(done.map(({ address }) => address)).size).toBe(2);
  });

  /** Wallets of a tenant, each activated in a batch of its own, a minute after the other. */
  const activateApart = async (activator: { wake: () => void }, count: number) => {
    for (let made = 0; made < count; made++) {
      clockMs += 60_000;
      await createWallets(await createTenant(), 1);
      activator.wake();
      await eventually(rows, (all) => all.every(({ state }) => state === "active"));
    }
  };

  it("counts all wallets when a run of the signer is new, and not before every batch", async () => {
    const journal: string[] = [];
    const { addressesOf, rest, restart } = signerOf(journal);
    const activator = start(addressesOf, follow, rest);
    await activateApart(activator, 4);
    expect(counts).toBe(1);
    restart();
    await activateApart(activator, 4);
    expect(counts).toBe(2);
    expect(errors).toEqual([]);
  });

  it("notices what an idle process has not seen: the signer forgot wallets that another made", async () => {
    const journal: string[] = [];
    const { addressesOf, rest, restart } = signerOf(journal);
    let isIdle = false;
    const idle = start(addressesOf, async () => (isIdle ? [] : [network]), rest);
    const stopIdle = stop;
    try {
      await activateApart(idle, 2);
      isIdle = true;
      await activateApart(start(addressesOf, follow, rest), 3);
      await stop();
      // More are left than the idle one has seen.
      journal.splice(4);
      restart();
      await createWallets(await createTenant(), 1);
      isIdle = false;
      idle.wake();
      await eventually(
        () => [...errors, ...journal.slice(4)],
        (all) => all.length > 0,
      );
      expect(journal).toHaveLength(4);
      expect(errors.at(-1)).toContain("it has 4, and 5 have addresses.");
    } finally {
      await stopIdle();
    }
  });

  it("counts before every batch for a signer that does not name its run", async () => {
    const { addressesOf, rest } = signerOf([]);
    const countWallets = async () => ({ ...(await rest.countWallets()), runId: undefined });
    await activateApart(start(addressesOf, follow, { ...rest, countWallets }), 3);
    expect(counts).toBe(3);
  });
});
