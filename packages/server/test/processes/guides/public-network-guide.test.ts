import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createBursar } from "@bursar/client";
import { contracts, type SpawnedDevnet, spawnDevnet } from "@bursar/devnet";
import { type SpawnedSigner, spawnSigner } from "@bursar/signer";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { blocksOf } from "../../harness/document-blocks.js";
import { eventually } from "../../harness/eventually.js";
import { type BursarProcess, runBursar, spawnBursar } from "../../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));
const page = "docs/guides/public-network.md";
const run = promisify(execFile);

/** The guide's signer and configuration, with a development chain in the place of the public network. */
const folder = createTemporaryFolder("public-network");
const masterKey = join(folder, "master.key");
let devnet: SpawnedDevnet;
let database: TestDatabase;
let signer: SpawnedSigner | undefined;
const started: BursarProcess[] = [];

beforeAll(async () => {
  devnet = await spawnDevnet(["--block-time-ms", "200"]);
  database = await createTestDatabase("empty");
  writeFileSync(masterKey, randomBytes(32).toString("hex"), { mode: 0o600 });
  symlinkSync(join(root, "bursar-signer"), join(folder, "bursar-signer"));
});
afterAll(async () => {
  for (const { child, exited } of started) {
    child.kill("SIGKILL");
    await exited;
  }
  await signer?.stop();
  await devnet.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const [written = ""] = blocksOf(page, "yaml");
/** The guide's file; the two nodes are those of the development chain. */
const configure = (change: (text: string) => string) => {
  const text = written
    .replace("https://sepolia.one.example/key", `${devnet.url}/?key=node-secret`)
    .replace("https://sepolia.two.example/key", devnet.secondUrl)
    .replace("signer_socket: signer.sock", `signer_socket: ${join(folder, "signer.sock")}`);
  const path = join(folder, "bursar.yaml");
  writeFileSync(path, change(text));
  return {
    ...{ BURSAR_CONFIG: path, DATABASE_URL: database.url, BURSAR_MASTER_KEY_FILE: masterKey },
    BURSAR_DATA_DIR: join(folder, "none"),
  };
};
const onDevnet = (text: string) =>
  text
    .replaceAll("eip155:11155111", "eip155:31337")
    .replace("0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238", contracts.USDC.address);

const serve = (env: Record<string, string>) => {
  const bursar = spawnBursar({ args: ["serve"], env });
  started.push(bursar);
  return bursar;
};

/** The one sentence with which the service ends. */
const refusalOf = async (env: Record<string, string>): Promise<string> => {
  const bursar = serve(env);
  expect((await bursar.exited).code).toBe(2);
  const said = bursar
    .output()
    .split("\n")
    .filter((line) => line.startsWith("bursar: "));
  expect(said).toHaveLength(1);
  expect(bursar.output()).not.toContain("node-secret");
  expect(bursar.output()).not.toContain("    at ");
  return said[0] ?? "";
};

it("the guide's commands create a signer", async () => {
  const [init = ""] = blocksOf(page, "sh");
  const { stdout } = await run("sh", ["-ec", init], { cwd: folder, env: { PATH: process.env["PATH"] } });
  expect(stdout).toContain("signer-data has a new seed");
  signer = await spawnSigner({
    folder: join(folder, "signer-data"),
    keyFile: join(folder, "signer.key"),
    socketPath: join(folder, "signer.sock"),
  });
});

it.each<[what: string, change: (text: string) => string, message: RegExp]>([
  [
    "another chain than the configured one",
    (text) => text,
    /is on chain 31337, and the network is configured as chain 11155111/,
  ],
  [
    "a token with other decimals",
    (text) => onDevnet(text).replace("decimals: 6", "decimals: 8"),
    /USDC\.SEP .*6.*8|8.*6/,
  ],
  ["no token", (text) => onDevnet(text).replace(contracts.USDC.address, `0x${"12".repeat(20)}`), /USDC\.SEP/],
  [
    "no signer",
    (text) => onDevnet(text).replace(/^signer_socket.*$/m, ""),
    /signer_socket \(environment BURSAR_SIGNER_SOCKET\) is not set/,
  ],
  [
    "an asset of a network that is not configured",
    (text) =>
      onDevnet(text)
        .replace(/^ {2}- { network: .*$/m, "")
        .replace("networks:\n", ""),
    /assets\[1\]\.network of ETH\.SEP is "eip155:31337": it must be one of book/,
  ],
])("with %s, the service ends with one sentence and exit code 2", async (_what, change, message) => {
  expect(await refusalOf(configure(change))).toMatch(message);
});

it("the guide's configuration runs, keeps the URLs secret, and funds nothing that the chain does not have", async () => {
  const env = configure(onDevnet);
  const bursar = serve(env);
  const url = await bursar.ready();
  const created = await runBursar(["tenant", "create", "Example Ltd"], env);
  const [, clientId = ""] = /(cli_\w+)/.exec(created.output) ?? [];
  const [, secret = ""] = /(bsk_[\w-]+)/.exec(created.output) ?? [];
  const { networks, wallets } = createBursar({ baseUrl: url, credentials: { clientId, secret } });
  await eventually(
    () => networks.list(),
    ({ data }) => data[0]?.state === "following",
  );
  const { id } = await wallets.create({ name: "w", purpose: "deposit", network: "eip155:31337" });
  const { address } = await eventually(
    () => wallets.get(id),
    ({ state }) => state === "active",
  );
  const funded = await runBursar(["fund", id, "ETH.SEP", "1"], env);
  expect(funded.code).toBe(1);
  expect(funded.output).toContain(`${id} is a wallet of eip155:31337. Only book wallets can be funded`);
  await devnet.control("devnet_fund", { address: address ?? "", amount: "25000000", asset: "USDC" });
  await eventually(
    () => wallets.get(id),
    ({ balances }) => balances.some(({ asset, available }) => asset === "USDC.SEP" && available === "25"),
  );
  const shown = await runBursar(["config"], env);
  expect(shown.output).toContain('rpc_urls: "********"');
  expect(shown.output + bursar.output()).not.toContain("node-secret");
});

it("with another chain than the one that the database was used with, the service ends in the same way", async () => {
  const last = started.at(-1);
  last?.child.kill("SIGTERM");
  await last?.exited;
  const other = `0x${"12".repeat(32)}`;
  await database.run(`UPDATE networks SET genesis_hash = '${other}'`);
  expect(await refusalOf(configure(onDevnet))).toMatch(
    new RegExp(
      `^bursar: The first block of eip155:31337 is 0x[0-9a-f]{64}, .* first block is ${other}\\. Correct`,
    ),
  );
});
