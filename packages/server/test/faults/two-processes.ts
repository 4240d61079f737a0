import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createIntegrityKeys } from "../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../src/credentials/keyring.js";
import { createSealing } from "../../src/credentials/sealing.js";
import { type Database, openDatabase, withKeys } from "../../src/store/core/database.js";
import type { TestDatabase } from "../harness/database/test-database.js";
import { createTrader } from "../harness/markets/trader.js";
import { writeMarkets } from "../harness/markets/wide-markets.js";
import { type MeasuredService, startMeasuredService } from "../harness/service/measured-service.js";
import { startTestService, type TestClient } from "../harness/service/test-service.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";
import { startWebhookReceiver, type WebhookReceiver } from "../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../harness/webhooks/webhooks-client.js";
import { createProofClients, type ProofClients } from "./proof-clients.js";

/** Two processes on one database, tenants that pay and trade, and a receiver of webhooks. */
export interface TwoProcesses extends ProofClients {
  /** A connection of the proof itself, which finds the primary like the service does. */
  database: TestDatabase;
  /** The same, with the keys of the services. */
  keyed: Database;
  services: readonly [MeasuredService, MeasuredService];
  payer: TestClient;
  traders: readonly TestClient[];
  receiver: WebhookReceiver;
  close: () => Promise<void>;
}

const publicUrl = "http://bursar.test";
const tradersCount = 3;
const payersFunds = "1000000";
const tradersFunds = { USD: "1000000", ETH: "10000" };

/** Notices a primary that is gone without waiting for it, also on a busy machine. */
const settings = `
audit:
  checkpoint_seconds: 0
limits:
  event_loop_delay_ms: 60000
  accept_wait_ms: 10000
webhooks:
  retry_delays_ms: 100,100,200,200,500,500,1000,1000,1000,1000,1000,1000,1000
`;

export async function startTwoProcesses(databaseUrl: string): Promise<TwoProcesses> {
  const folder = createTemporaryFolder("two-processes");
  const masterKey = randomBytes(32);
  const masterKeyFile = join(folder, "master.key");
  writeFileSync(masterKeyFile, masterKey.toString("base64"), { mode: 0o600 });
  const configFile = writeMarkets(folder);
  writeFileSync(configFile, settings, { flag: "a" });
  const receiver = await startWebhookReceiver();
  const keys = createIntegrityKeys(createSealing(createKeyring([masterKey])));
  const opened = openDatabase({ url: databaseUrl, connectionsMax: 4 });
  const database: TestDatabase = {
    ...opened,
    url: databaseUrl,
    run: (script) => opened.session((session) => session.script(script)),
    drop: opened.close,
  };

  const preparing = await startTestService({}, { database, masterKey, publicUrl });
  const payer = await preparing.createTenant(payersFunds);
  await webhooksOf(preparing, await preparing.token(payer)).createEndpoint(`${receiver.url}/hook`);
  const traders: TestClient[] = [];
  for (let count = 0; count < tradersCount; count++)
    traders.push((await createTrader(preparing, tradersFunds)).owner);
  await preparing.stop();

  const env = {
    DATABASE_URL: databaseUrl,
    BURSAR_MASTER_KEY_FILE: masterKeyFile,
    BURSAR_PUBLIC_URL: publicUrl,
    BURSAR_CONFIG: configFile,
    LOG_LEVEL: "warn",
  };
  const services = [await startMeasuredService(env), await startMeasuredService(env)] as const;
  return {
    ...{ database, keyed: withKeys(database, keys) },
    services,
    payer,
    traders,
    receiver,
    ...createProofClients(services.map(({ url }) => url)),
    close: async () => {
      for (const service of services) await service.stop();
      await receiver.stop();
      await opened.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
