import {
  type Asset,
  type AssetRegistry,
  createAssetRegistry,
  policyLimits,
  type Quota,
} from "@bursar/domain";
import type { Logger } from "pino";
import type { LoadBounds, LoadGauge } from "../app/load/load-gauge.js";
import type { Quotas } from "../app/quotas/client-quotas.js";
import { createTenantCreator } from "../app/tenants/create-tenant.js";
import type { UseCases } from "../app/use-cases.js";
import type { WakeUps } from "../app/wake-ups.js";
import type { Sealing } from "../credentials/sealing.js";
import type { WebhookSender } from "../delivery/webhook-sender.js";
import type { Engine } from "../engine/engine.js";
import type { AccessGuard } from "../http/access/guard.js";
import { analyzeYoungTables } from "../store/analyze-young-tables.js";
import type { Database } from "../store/database.js";
import { createTenantStore } from "../store/tenants.js";
import { removeExpiredCredentials } from "../store/tokens.js";
import { removeOldTotals } from "../store/usage.js";
import { composeAccess } from "./compose-access.js";
import { composePolicy } from "./compose-policy.js";
import { composeTransactions } from "./compose-transactions.js";
import { composeWebhooks, type WebhookOptions } from "./compose-webhooks.js";

/** Where use cases get their ports filled: one file an area, and this one, which puts the areas together. */
export interface ComposeOptions {
  database: Database;
  assets: readonly Asset[];
  sealing: Sealing;
  wakeUps: WakeUps;
  publicUrl: string;
  /** What every client may ask for that has no quotas of its own. */
  quotas: Quotas;
  /** And every address from which nobody has proven anything. */
  addressQuota: Quota;
  /** When the service counts as overloaded. */
  loadBounds: LoadBounds;
  /** How long a new address on an allow-list waits before it counts. */
  destinationDelaySeconds: number;
  webhooks: WebhookOptions;
  log: Logger;
  newUuid: () => string;
  nowMs: () => number;
}

/** Use cases with their ports filled, and what the edge and the command line need of them. */
export interface Parts {
  useCases: UseCases;
  guard: AccessGuard;
  createTenant: ReturnType<typeof createTenantCreator>;
  /** Brings money in from outside, into a tenant's primary wallet. */
  fundPrimary: (tenantId: string, asset: string, amount: string) => Promise<void>;
  engine: Engine;
  load: LoadGauge;
  sender: WebhookSender;
  assets: AssetRegistry;
  /** To be called once, when the schema is there. */
  prepare: () => Promise<void>;
  close: () => Promise<void>;
}

const housekeepingIntervalMs = 60_000;
const analyzeIntervalMs = 1000;

export function compose(options: ComposeOptions): Parts {
  const { database, log, newUuid, nowMs } = options;
  const access = composeAccess(options);
  const policy = composePolicy(options, {
    assets: createAssetRegistry(options.assets),
    networks: new Set(["book"]),
  });
  const transactions = composeTransactions(options, policy.policies);
  const webhooks = composeWebhooks(options, transactions.presentEvents);
  const housekeeping = setInterval(() => {
    const oldest = new Date(nowMs() - policyLimits.periodSecondsMax * 1000);
    Promise.all([removeExpiredCredentials(database), removeOldTotals(database, oldest)]).catch(
      (error: unknown) => log.warn({ err: error }, "housekeeping failed"),
    );
  }, housekeepingIntervalMs).unref();
  let analyzing: NodeJS.Timeout | undefined;
  const keepAnalyzed = () => {
    analyzing = setInterval(() => {
      analyzeYoungTables(database).catch((error: unknown) =>
        log.debug({ err: error }, "tables could not be analysed"),
      );
    }, analyzeIntervalMs).unref();
  };

  return {
    useCases: {
      ...access.useCases,
      ...transactions.useCases,
      ...policy.useCases,
      ...webhooks.useCases,
    },
    guard: access.guard,
    createTenant: createTenantCreator({
      tenants: createTenantStore(database),
      createClient: access.useCases.createClient,
      newUuid,
      nowMs,
    }),
    fundPrimary: transactions.fundPrimary,
    prepare: async () => {
      await access.prepare();
      keepAnalyzed();
    },
    engine: transactions.engine,
    load: transactions.load,
    sender: webhooks.sender,
    assets: transactions.assets,
    close: async () => {
      clearInterval(housekeeping);
      clearInterval(analyzing);
      transactions.load.stop();
      await transactions.engine.stop();
      await webhooks.close();
      await access.close();
    },
  };
}
