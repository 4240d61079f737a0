import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createBursar } from "@bursar/client";
import type { Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../../src/embedded/free-port.js";
import { blocksOf } from "../../harness/document-blocks.js";
import { eventually } from "../../harness/eventually.js";
import { type BursarProcess, runBursar, spawnBursar } from "../../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));
const run = promisify(execFile);
const page = "docs/guides/chains.md";

/** The sandbox with its chain and its signer, from the first wallet to what is left of it after a kill. */
const folder = createTemporaryFolder("chain-guide");
const dataDir = join(folder, "data");
const env = { BURSAR_DATA_DIR: dataDir };
let sandbox: BursarProcess;
let url: string;
const start = async () => {
  sandbox = spawnBursar({ args: ["dev"], env: { ...env, BURSAR_SANDBOX_CHAIN: "on" } });
  url = await sandbox.ready();
};
beforeAll(async () => {
  symlinkSync(join(root, "bursar"), join(folder, "bursar"));
  await start();
});
afterAll(async () => {
  sandbox.child.kill("SIGTERM");
  await sandbox.exited;
  rmSync(folder, { recursive: true, force: true });
});

const shell = async (script: string, variables: Record<string, string> = {}) => {
  const text = script.replaceAll("http://127.0.0.1:8080", url);
  const all = { PATH: process.env["PATH"], ...env, ...variables };
  return (await run("sh", ["-ec", text], { env: all, cwd: folder })).stdout;
};
const bursarHere = async () => {
  const token = (await runBursar(["token"], env)).output.trim();
  return createBursar({ baseUrl: url, credentials: () => token });
};
const walletNow = async (id: string) => await (await bursarHere()).wallets.get(id);
const transactionNow = async (id: string) => await (await bursarHere()).transactions.get(id);
const chainUrl = () =>
  (JSON.parse(readFileSync(join(dataDir, "chain.json"), "utf8")) as { rpcUrl: string }).rpcUrl;
const onChain = async (hash: string) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getTransactionReceipt", params: [hash] });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(chainUrl(), { method: "POST", headers, body });
  return ((await answer.json()) as { result: { status: string; blockHash: string } | null }).result;
};
const pidOf = (name: string) => Number(readFileSync(join(dataDir, `${name}.pid`), "utf8"));
const balances = async (id: string) =>
  Object.fromEntries((await walletNow(id)).balances.map((one) => [one.asset, one.available]));

const [create = "", receive = "", pay = ""] = blocksOf(page, "sh");
let wallet = "";
let payout: Transaction;

it("neither the chain nor the signer runs before it is used", async () => {
  const ready = await (await fetch(`${url}/readyz`)).json();
  expect(ready).toEqual({ status: "ready", checks: { database: "up" } });
  expect(["chain.pid", "signer.pid"].filter((file) => existsSync(join(dataDir, file)))).toEqual([]);
});

it("the guide's wallet gets an address, coins and tokens", async () => {
  const printed = await shell(create);
  expect(printed).toContain('"id":"eip155:31337"');
  wallet = /"id":"(wlt_\w+)"/.exec(printed)?.[1] ?? "";
  await eventually(
    () => walletNow(wallet),
    ({ state, address }) => state === "active" && address !== null,
  );
  expect(await shell(receive, { WALLET: wallet })).toContain(`${wallet} will receive 1000 USDC.DEV when 0x`);
  await eventually(
    () => balances(wallet),
    (held) => held["ETH.DEV"] === "2" && held["USDC.DEV"] === "1000",
  );
  const { transactions } = await bursarHere();
  const { data } = await transactions.list({ kind: "deposit", wallet_id: wallet }).page();
  expect(data.map(({ state }) => state)).toEqual(["completed", "completed"]);
  for (const { hash } of data) expect(await onChain(hash ?? "")).toMatchObject({ status: "0x1" });
  // The first final block has the tokens already.
  const complaints = sandbox.output().match(/^\{"level":[456]0.*$/gm);
  expect(complaints).toBeNull();
});

it("the guide's payment comes as webhooks, with a hash that the chain knows", async () => {
  const listener = spawnBursar({ args: ["webhooks", "listen", "--port", String(await freePort())], env });
  await listener.waitFor(/registered as (whe_\w+)/);
  const printed = await shell(pay, { WALLET: wallet });
  const id = /"id":"(tx_\w+)"/.exec(printed)?.[1] ?? "";
  for (const state of ["processing", "broadcast", "confirming", "completed"])
    await listener.waitFor(new RegExp(`transaction\\.updated {2}${id} {2}${state} .*verified\n`));
  listener.child.kill("SIGINT");
  await listener.exited;
  payout = await transactionNow(id);
  expect(payout).toMatchObject({ kind: "payout", state: "completed", fee: { asset: "ETH.DEV" } });
  expect(await onChain(payout.hash ?? "")).toMatchObject({ status: "0x1", blockHash: payout.block?.hash });
  expect((await balances(wallet))["USDC.DEV"]).toBe("975");
});

it.each(["SIGTERM", "SIGKILL"] as const)(
  "after %s nothing is left running, and the next start goes on",
  async (signal) => {
    const before = await balances(wallet);
    const pids = [pidOf("chain"), pidOf("signer")];
    sandbox.child.kill(signal);
    await sandbox.exited;
    await eventually(
      () => pids.filter(isAlive),
      (alive) => alive.length === 0,
    );
    await start();
    // There is a wallet, which can receive something at any time.
    await eventually(
      () => existsSync(join(dataDir, "chain.pid")) && isAlive(pidOf("chain")),
      (isRunning) => isRunning,
    );
    expect(await onChain(payout.hash ?? "")).toMatchObject({ blockHash: payout.block?.hash });
    expect(await balances(wallet)).toEqual(before);
    const again = pay.replaceAll("chain-payout", `after-${signal}`);
    const id = /"id":"(tx_\w+)"/.exec(await shell(again, { WALLET: wallet }))?.[1] ?? "";
    await eventually(
      () => transactionNow(id),
      ({ state }) => state === "completed",
    );
    const audit = await runBursar(["audit", "ledger"], env);
    expect([audit.code, audit.output]).toEqual([0, expect.not.stringContaining("VIOLATED")]);
  },
);

it("a sandbox that has used its chain says why it cannot run without it", async () => {
  sandbox.child.kill("SIGTERM");
  await sandbox.exited;
  const { code, output } = await runBursar(["dev"], { ...env, BURSAR_SANDBOX_CHAIN: "off" });
  expect([code, output.match(/^bursar: .*$/gm)]).toEqual([
    2,
    [
      "bursar: This sandbox stores ETH.DEV, an asset of its chain, and cannot run without the chain: BURSAR_SANDBOX_CHAIN is off. To run without a chain, choose a new data folder with BURSAR_DATA_DIR.",
    ],
  ]);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
