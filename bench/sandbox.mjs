// A service for a bench: started in an empty folder, stopped and removed at the end.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createBursar } from "../packages/client/dist/index.js";

/** @typedef {import("../packages/client/dist/index.js").Bursar} Bursar */

const ownCheckout = join(import.meta.dirname, "..");

/**
 * @typedef {object} Sandbox
 * @property {string} url
 * @property {Bursar} client
 * @property {Bursar} otherClient of the sandbox's other tenant
 * @property {string} token of the client, for the load generators
 * @property {() => Promise<string>} newToken for work that takes longer than a token is valid
 * @property {string} databaseUrl
 * @property {number} pid
 * @property {number} postgresPid
 * @property {string} dataDir
 * @property {() => Promise<void>} stop
 */

/**
 * @typedef {object} SandboxOptions
 * @property {string} [configuration] settings as YAML
 * @property {string} [checkout] another built checkout, to compare two versions
 */

/** @param {SandboxOptions} [options] @returns {Promise<Sandbox>} */
async function startSandbox({ configuration = "{}", checkout = ownCheckout } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "bursar-bench-"));
  chmodSync(folder, 0o711);
  const dataDir = join(folder, "data");
  const port = await freePort();
  const file = join(folder, "bursar.yaml");
  writeFileSync(file, configuration);
  const env = {
    PATH: process.env["PATH"],
    BURSAR_DATA_DIR: dataDir,
    BURSAR_CONFIG: file,
    PORT: String(port),
    LOG_LEVEL: "warn",
  };
  const program = join(checkout, "packages/server/bin/bursar.mjs");
  const child = spawn(process.execPath, [program, "dev"], { env, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.kill("SIGTERM");
    await new Promise((resolve) => child.once("exit", resolve));
    rmSync(folder, { recursive: true, force: true });
  };
  await waitUntilReady(url).catch(async (error) => {
    await stop();
    throw error;
  });
  const client = clientOf(dataDir, url);
  return {
    url,
    client,
    otherClient: clientOf(dataDir, url, "other"),
    token: await client.tokens.current(),
    newToken: () => clientOf(dataDir, url).tokens.current(),
    databaseUrl: databaseUrlOf(dataDir),
    pid: child.pid ?? 0,
    postgresPid: Number(postmasterFile(dataDir)[0]),
    dataDir,
    stop,
  };
}

/** Starts a sandbox for the work and removes it afterwards. @param {(sandbox: Sandbox) => Promise<void>} work @param {SandboxOptions} [options] */
export async function withSandbox(work, options) {
  const sandbox = await startSandbox(options);
  try {
    await work(sandbox);
  } finally {
    await sandbox.stop();
  }
}

/** Starting takes seconds, and many of them on a busy machine. */
const startTimeoutMs = 120_000;

/** @param {string} url */
export async function waitUntilReady(url) {
  const endsAt = performance.now() + startTimeoutMs;
  while (performance.now() < endsAt) {
    const response = await fetch(`${url}/readyz`).catch(() => undefined);
    if (response?.status === 200) return;
    await sleep(50);
  }
  throw new Error(`${url} did not become ready`);
}

/** A client of the sandbox, with a token of its own. @param {string} dataDir @param {string} url */
function clientOf(dataDir, url, name = "sandbox") {
  /** @type {{ clients: { name: string, client_id: string, client_secret: string }[] }} */
  const { clients } = JSON.parse(readFileSync(join(dataDir, "credentials.json"), "utf8"));
  const client = clients.find((one) => one.name === name);
  if (client === undefined) throw new Error(`the sandbox has no client ${name}`);
  const credentials = { clientId: client.client_id, secret: client.client_secret };
  return createBursar({ baseUrl: url, credentials });
}

/** The lines of PostgreSQL's own status file. @param {string} dataDir */
function postmasterFile(dataDir) {
  return readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n");
}

/** @param {string} dataDir */
function databaseUrlOf(dataDir) {
  const port = postmasterFile(dataDir)[3];
  const password = readFileSync(join(dataDir, "postgres.password"), "utf8").trim();
  return `postgres://bursar:${password}@127.0.0.1:${port}/postgres`;
}

/** @returns {Promise<number>} */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port from a TCP listener");
  return address.port;
}
