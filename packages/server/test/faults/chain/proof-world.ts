import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type SpawnedSigner, spawnSigner } from "@bursar/signer";
import pino from "pino";
import { startEmbeddedPostgres } from "../../../src/embedded/embedded-postgres.js";
import { freePort } from "../../../src/embedded/free-port.js";
import { openDatabase } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { chainClientOf } from "../../harness/chain/chain-client.js";
import { chainNetwork, usdcContract } from "../../harness/chain/configured-chain.js";
import type { TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";
import { type MeasuredService, startMeasuredService } from "../../harness/service/measured-service.js";
import { startTestService, type TestClient } from "../../harness/service/test-service.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";
import { createProofClients, type ProofClients } from "../proof-clients.js";
import { type EventReceiver, startEventReceiver } from "./event-receiver.js";
import type { ProofChain } from "./proof-chain.js";
import { type ChangeAnswer, startNodeProxy, startPostgresProxy, startSignerProxy } from "./step-proxies.js";
import { createStepGate, type StepGate, type Victim } from "./steps.js";

export interface ProofWallet {
  id: string;
  /** In lower case. */
  address: string;
  tenant: TestClient;
}

/** The service, PostgreSQL, the signer and a chain, each a process of its own, with something in between that can stop them. */
export interface ProofWorld<Chain extends ProofChain = ProofChain> {
  url: string;
  chain: Chain;
  gate: StepGate;
  wallets: readonly ProofWallet[];
  receiver: EventReceiver;
  bursarOf: ProofClients["bursarOf"];
  /** Past the proxies, for what the proof itself looks at. */
  database: TestDatabase;
  /** What `bursar` needs to be run against this world. */
  env: Record<string, string>;
  /** Starts a process again that was killed, and waits until it answers. */
  restart: (victim: Victim) => Promise<void>;
  /** Changes what a node answers; undefined ends it. */
  lie: (change: ChangeAnswer | undefined) => void;
  output: () => string;
  close: () => Promise<void>;
}

const publicUrl = "http://bursar.test";
const coins = 10n ** 21n;
const tokens = 10n ** 12n;

/** The chain ends with the world. */
export async function startProofWorld<Chain extends ProofChain>(
  chain: Chain,
  walletCount: number,
): Promise<ProofWorld<Chain>> {
  const folder = createTemporaryFolder("chain-proof");
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, "data"),
    log: pino({ level: "silent" }),
    onLost: (error) => {
      throw error;
    },
  });
  const files = { folder: join(folder, "signer"), keyFile: join(folder, "signer.key") };
  const startSigner = () => spawnSigner({ ...files, socketPath: join(folder, "own.sock") });
  let signer: SpawnedSigner = await startSigner();
  let service: MeasuredService | undefined;
  const outputs: string[] = [];

  const gate = createStepGate((victim) => {
    if (victim === "service") service?.child.kill("SIGKILL");
    if (victim === "signer") process.kill(signer.pid, "SIGKILL");
    if (victim === "postgres")
      process.kill(
        Number(readFileSync(join(postgres.dir, "postmaster.pid"), "utf8").split("\n")[0]),
        "SIGKILL",
      );
  });
  let change: ChangeAnswer | undefined;
  const socketPath = join(folder, "signer.sock");
  const proxies = [
    await startNodeProxy(gate, chain.url, (...given) => change?.(...given)),
    await startPostgresProxy(gate, postgres.url),
    await startSignerProxy(gate, socketPath, () => signer.socketPath),
  ] as const;
  const [nodes, sqls] = proxies;
  const configFile = join(folder, "bursar.yaml");
  const nodesUrl = `http://127.0.0.1:${nodes.port}`;
  writeFileSync(configFile, configurationOf(chain.nodePaths.map((path) => `${nodesUrl}${path}`)));
  const masterKey = randomBytes(32);
  const masterKeyFile = join(folder, "master.key");
  writeFileSync(masterKeyFile, masterKey.toString("base64"), { mode: 0o600 });

  const opened = openDatabase({ url: postgres.url, connectionsMax: 4 });
  const database: TestDatabase = {
    ...opened,
    url: postgres.url,
    run: (script) => opened.session((session) => session.script(script)),
    drop: opened.close,
  };
  const receiver = await startEventReceiver();
  const settings = {
    BURSAR_CONFIG: configFile,
    BURSAR_SIGNER_SOCKET: socketPath,
    BURSAR_DESTINATION_DELAY_SECONDS: "0",
  };
  const wallets = await prepare();

  async function prepare(): Promise<ProofWallet[]> {
    const preparing = await startTestService(settings, { database, masterKey, publicUrl });
    const made: ProofWallet[] = [];
    for (const name of ["a", "b"]) {
      const tenant = await preparing.createTenant();
      const token = await preparing.token(tenant);
      await webhooksOf(preparing, token).createEndpoint(`${receiver.url}/${name}`, ["transaction.updated"]);
      const client = chainClientOf(preparing, token);
      await client.allowEverything();
      const created = await Promise.all(
        Array.from({ length: Math.ceil(walletCount / 2) }, () => client.createActiveWallet()),
      );
      made.push(...created.map(({ id, address }) => ({ id, address: address.toLowerCase(), tenant })));
    }
    for (const { address } of made) {
      await chain.fund({ address, asset: "ETH", amount: coins });
      await chain.fund({ address, asset: "USDC", amount: tokens });
    }
    const isFunded = async ({ id, tenant }: ProofWallet) => {
      const client = chainClientOf(preparing, await preparing.token(tenant));
      const { balances } = await client.readWallet(id);
      return balances.filter(({ available }) => available !== "0").length === 2;
    };
    for (const wallet of made) await eventually(() => isFunded(wallet), Boolean);
    await preparing.stop();
    return made;
  }

  const proxied = new URL(postgres.url);
  proxied.port = String(sqls.port);
  const port = await freePort();
  const env = {
    ...settings,
    DATABASE_URL: proxied.href,
    BURSAR_MASTER_KEY_FILE: masterKeyFile,
    BURSAR_PUBLIC_URL: publicUrl,
    LOG_LEVEL: "warn",
  };

  async function startService(): Promise<void> {
    // The lease of a process that is dead ends after ten seconds; the proof does not wait for it.
    await answered(() => database.query(sql`UPDATE networks SET expires_at = now()`));
    // A node that lies at this moment ends the start with a sentence, and a supervisor tries again.
    const start = () => startMeasuredService({ ...env, PORT: String(port) }).catch(() => undefined);
    service = await eventually(start, (started) => started !== undefined);
  }
  await startService();

  async function restart(victim: Victim): Promise<void> {
    if (victim === "service") {
      outputs.push(service?.output().slice(-20_000) ?? "");
      await startService();
    }
    if (victim === "signer") {
      await signer.exited;
      signer = await startSigner();
    }
    if (victim === "postgres") await answered(() => database.query(sql`SELECT 1`));
  }

  const url = `http://127.0.0.1:${port}`;
  return {
    ...{ url, chain, gate, wallets, receiver, database, restart },
    env: { ...env, DATABASE_URL: postgres.url },
    bursarOf: createProofClients([url]).bursarOf,
    lie: (given) => {
      change = given;
    },
    output: () => [...outputs, service?.output() ?? ""].join("\n"),
    close: async () => {
      await service?.stop();
      await receiver.stop();
      await opened.close();
      await signer.stop();
      for (const proxy of proxies) await proxy.close();
      await postgres.stop();
      await chain.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Asks until PostgreSQL answers: it is killed now and then. */
export async function answered<T>(ask: () => Promise<T>): Promise<T> {
  const answer = await eventually(
    () =>
      ask()
        .then((value) => ({ value }))
        .catch(() => undefined),
    (found) => found !== undefined,
  );
  return (answer as { value: T }).value;
}

function configurationOf(urls: readonly string[]): string {
  const many = '{ minimum: "0.000000000000000001", maximum: "1000000" }'.slice(2, -2);
  return `
assets:
  - { code: USD, decimals: 2, network: book, minimum: "0.01", maximum: "1000000" }
  - { code: ETH.DEV, caip19: "${chainNetwork}/slip44:60", decimals: 18, network: "${chainNetwork}", ${many} }
  - { code: USDC.DEV, caip19: "${chainNetwork}/erc20:${usdcContract}", decimals: 6, network: "${chainNetwork}", minimum: "0.000001", maximum: "1000000" }
networks:
  - { network: "${chainNetwork}", rpc_urls: "${urls.join(",")}", fee_cap_gwei: "900", minimum_tip_gwei: "1" }
audit:
  checkpoint_seconds: 0
limits:
  event_loop_delay_ms: 60000
  accept_wait_ms: 10000
quotas:
  create_per_second: 10000
  read_per_second: 10000
webhooks:
  retry_delays_ms: 100,100,200,200,500,500,1000,1000,1000,1000,1000,1000,1000
`;
}
