import { randomBytes, randomUUID } from "node:crypto";
import { attemptDelaysMs, createUuidV7Source } from "@bursar/domain";
import pino from "pino";
import type { Origin } from "../../../src/app/audit/audit-entry.js";
import { isRefused, type Refused } from "../../../src/app/requests/refused.js";
import { compose } from "../../../src/compose/compose.js";
import { loadConfig } from "../../../src/config/load-config.js";
import type { Settings } from "../../../src/config/settings.js";
import { createIntegrityKeys } from "../../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import { createWakeUps } from "../../../src/runtime/loops/wake-ups.js";
import { withKeys } from "../../../src/store/core/database.js";
import { readPrivateNetworks } from "../../../src/webhooks/judge-address.js";
import { creditPrimary } from "../database/credit-wallet.js";
import { createTestDatabase } from "../database/test-database.js";
import { eventually } from "../eventually.js";

/** The whole service but its edge, with a clock that only the test moves. */
export async function startClockedParts({ timeoutMs = 15_000, settings = {} as Partial<Settings> } = {}) {
  const database = await createTestDatabase();
  let nowMs = Date.now();
  const wakeUps = createWakeUps({
    openChannel: () => ({
      notify: async () => undefined,
      isOpen: () => true,
      close: async () => undefined,
    }),
    processId: randomUUID(),
  });
  const errors: unknown[] = [];
  const sealing = createSealing(createKeyring([randomBytes(32)]));
  const parts = compose({
    database,
    settings: { ...loadConfig({}).values, "audit.checkpoint_seconds": 0, ...settings },
    sealing,
    wakeUps,
    publicUrl: "http://bursar.example",
    webhooks: {
      isLoopbackAllowed: true,
      areLiteralsAllowed: false,
      privateNetworks: readPrivateNetworks([]),
      concurrency: 4,
      timeoutMs,
      retryDelaysMs: attemptDelaysMs,
      retentionDays: 30,
    },
    log: pino({ level: "error" }, { write: (line: string) => errors.push(line) }),
    newUuid: createUuidV7Source({ now: () => nowMs, randomBytes }),
    now: () => nowMs,
    isClockTrusted: () => true,
  });
  await parts.prepare();
  parts.engine.start();
  parts.sender.start();

  async function createTenant() {
    const { tenant, client } = await parts.createTenant("clocked");
    await creditPrimary(parts, tenant.id, "USD", "1000000");
    const origin: Origin = { by: "operator", tenantId: tenant.id };
    const principal = {
      tenantId: tenant.id,
      clientId: client.id,
      tokenId: randomUUID(),
      scopes: new Set<never>(),
    };
    const asClient = { by: "client", principal, requestId: "clocked", address: "127.0.0.1" } as const;
    return {
      id: tenant.id,
      origin,
      asClient,
      createEndpoint: async (
        url: string,
        events: ("*" | "transaction.updated" | "endpoint.disabled")[] = ["*"],
      ) => {
        const { endpoint } = taken(await parts.useCases.createEndpoint(origin, { url, events }, undefined));
        return taken(await parts.useCases.verifyEndpoint(origin, endpoint.id)).endpoint;
      },
      clientId: client.id,
      /** Past the edge, so that also a client that is disabled can. */
      transact: async (more: { expires_at?: string } = {}) => {
        const body = { reference: "clocked", asset: "USD", amount: "1", ...more };
        const created = taken(await parts.useCases.createTransaction(asClient, randomUUID(), body));
        return created.transaction.id;
      },
      deliveries: async (filter = {}) =>
        (await parts.useCases.listDeliveries(tenant.id, filter, 200, undefined)).items,
      /** The tenant's deliveries, once they are as expected. */
      deliveriesWhen: (
        isExpected: (found: Awaited<ReturnType<typeof parts.useCases.listDeliveries>>["items"]) => boolean,
      ) =>
        eventually(
          async () => (await parts.useCases.listDeliveries(tenant.id, {}, 200, undefined)).items,
          isExpected,
        ),
    };
  }

  return {
    parts,
    database,
    /** The same, with the keys that authenticate rows. */
    keyed: withKeys(database, createIntegrityKeys(sealing)),
    wakeUps,
    errors,
    createTenant,
    now: () => nowMs,
    /** Moves the clock, and lets the sender look at it. */
    advance: (ms: number) => {
      nowMs += ms;
      parts.sender.wake("any");
    },
    stop: async () => {
      await parts.close();
      await wakeUps.close();
      await database.drop();
    },
  };
}

function taken<T>(result: T | Refused): T {
  if (isRefused(result)) throw new Error(JSON.stringify(result));
  return result;
}
