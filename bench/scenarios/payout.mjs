import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { spawnDevnet } from "../../packages/devnet/dist/index.js";
import { spawnSigner } from "../../packages/signer/dist/index.js";
import { connect, processesOf } from "../load.mjs";
import { compare } from "../measure.mjs";
import { withSandbox } from "../sandbox.mjs";

const count = 2000;
const walletCount = 32;
const batchMax = 100;
const itemsMax = 1000;
const network = "eip155:31337";
const blockTimeMs = 200;
const finalDepth = 4;

/** @typedef {import("../../packages/devnet/dist/index.js").SpawnedDevnet} Devnet */

/**
 * Payments to addresses on a chain, from the request until they are final, against a loop of one process that knows what it is doing: it
 * signs with viem, counts its nonces itself, sends in batches, asks for no gas, and reads the receipts of whole blocks. It keeps nothing.
 * @param {import("../run.mjs").BenchOptions} options
 */
export async function payout({ rounds, rows = count }) {
  const devnet = await spawnDevnet([
    ...["--block-time-ms", String(blockTimeMs), "--safe-depth", "2", "--final-depth", String(finalDepth)],
  ]);
  const signer = await spawnSigner();
  const configuration = configurationOf(devnet.url, signer.socketPath);
  try {
    await withSandbox(
      async (sandbox) => {
        const database = await connect(sandbox.databaseUrl);
        const wallets = await prepareWallets(sandbox, devnet);
        const chain = { chain: { pid: devnet.pid } };
        const own = { ...processesOf(sandbox), signer: { pid: signer.pid }, ...chain };
        const loop = await createExpertLoop(devnet);
        try {
          await compare("payout", rounds, [
            {
              name: "expert loop",
              measure: () => loop(rows),
              processes: { loop: { pid: process.pid }, ...chain },
            },
            { name: "payout", measure: () => payOut(sandbox, database, wallets, rows), processes: own },
          ]);
        } finally {
          await database.end();
        }
      },
      { configuration },
    );
  } finally {
    await signer.stop();
    rmSync(dirname(signer.folder), { recursive: true, force: true });
    await devnet.stop();
  }
}

/** @param {string} url @param {string} socketPath */
function configurationOf(url, socketPath) {
  const bounds = 'minimum: "0.000000000000000001", maximum: "1000000"';
  return `
assets:
  - { code: USD, decimals: 2, network: book, minimum: "0.01", maximum: "1000000" }
  - { code: ETH.DEV, caip19: "${network}/slip44:60", decimals: 18, network: "${network}", ${bounds} }
networks:
  - { network: "${network}", rpc_urls: "${url}", fee_cap_gwei: "500", minimum_tip_gwei: "1", in_flight: 64 }
signer_socket: ${socketPath}
`;
}

/** Wallets with an address and coins. @param {import("../sandbox.mjs").Sandbox} sandbox @param {Devnet} devnet @returns {Promise<string[]>} */
async function prepareWallets(sandbox, devnet) {
  const { policy, wallets } = sandbox.client;
  const { lastResponse } = await policy.get();
  await policy.replace({ rules: [], default: { action: "allow" } }, lastResponse.etag ?? "");
  const ids = [];
  for (let index = 0; index < walletCount; index++) {
    ids.push((await wallets.create({ name: "bench", purpose: "payout", network })).id);
  }
  for (const id of ids) {
    let wallet = await wallets.get(id);
    while (wallet.state !== "active") {
      await sleep(50);
      wallet = await wallets.get(id);
    }
    await devnet.control("devnet_fund", {
      address: wallet.address ?? "",
      amount: String(10n ** 24n),
      asset: "ETH",
    });
  }
  const isFunded = async (/** @type {string} */ id) =>
    (await wallets.get(id)).balances.some((one) => one.asset === "ETH.DEV" && one.available !== "0");
  for (const id of ids) while (!(await isFunded(id))) await sleep(100);
  return ids;
}

let runs = 0;

/** @param {number} index */
function addressOf(index) {
  return `0x${(0xbe9c4n * 16n ** 34n + BigInt(runs) * 16n ** 8n + BigInt(index)).toString(16).padStart(40, "0")}`;
}

/** Until all of them are completed. @param {import("../sandbox.mjs").Sandbox} sandbox @param {import("pg").Client} database @param {readonly string[]} wallets @param {number} total */
async function payOut(sandbox, database, wallets, total) {
  runs += 1;
  const startedMs = performance.now();
  for (let start = 0; start < total; start += itemsMax) {
    const transactions = Array.from({ length: Math.min(itemsMax, total - start) }, (_, index) => ({
      idempotency_key: `payout-${runs}-${start + index}`,
      reference: "bench",
      asset: "ETH.DEV",
      amount: "0.000000000000000001",
      source: { wallet_id: wallets[(start + index) % wallets.length] ?? "" },
      destination: { address: addressOf(start + index) },
    }));
    await sandbox.client.transactions.createBatch({ transactions });
  }
  const open = "SELECT count(*) AS count FROM chain_payments WHERE stage <> 'over'";
  const isOpen = async () => (await database.query(open)).rows[0].count !== "0";
  const isAccepted = "SELECT count(*) AS count FROM open_transactions";
  while ((await database.query(isAccepted)).rows[0].count !== "0" || (await isOpen())) await sleep(50);
  const perSecond = total / ((performance.now() - startedMs) / 1000);
  return { perSecond, operations: total };
}

/** @param {Devnet} devnet */
async function createExpertLoop(devnet) {
  const { generatePrivateKey, privateKeyToAccount } = await import("viem/accounts");
  const account = privateKeyToAccount(generatePrivateKey());
  await devnet.control("devnet_fund", { address: account.address, amount: String(10n ** 24n), asset: "ETH" });
  while (
    BigInt(/** @type {string} */ (await devnet.request("eth_getBalance", [account.address, "latest"]))) === 0n
  )
    await sleep(50);
  const post = async (/** @type {readonly { method: string, params: readonly unknown[] }[]} */ calls) => {
    const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: "2.0", id, ...call })));
    const headers = { "content-type": "application/json" };
    const response = await fetch(devnet.url, { method: "POST", headers, body });
    return /** @type {any[]} */ (await response.json());
  };
  let nonce = 0;
  const fees = { maxFeePerGas: 100n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };

  /** Until all of them are in final blocks. */
  return async (/** @type {number} */ total) => {
    runs += 1;
    const open = new Set();
    const startedMs = performance.now();
    let next = Number(await devnet.request("eth_blockNumber")) + 1;
    const readBlocks = async () => {
      const [head] = await post([{ method: "eth_blockNumber", params: [] }]);
      for (; next <= Number(head.result); next++) {
        const [receipts] = await post([
          { method: "eth_getBlockReceipts", params: [`0x${next.toString(16)}`] },
        ]);
        for (const { transactionHash, status } of receipts.result)
          if (status === "0x1") open.delete(transactionHash);
      }
    };
    for (let start = 0; start < total; start += batchMax) {
      const raws = [];
      for (let index = start; index < Math.min(total, start + batchMax); index++) {
        const to = /** @type {`0x${string}`} */ (addressOf(index));
        const payment = { to, value: 1n, gas: 21_000n, nonce: nonce++, chainId: 31_337, ...fees };
        raws.push(await account.signTransaction({ type: "eip1559", ...payment }));
      }
      const sent = await post(raws.map((raw) => ({ method: "eth_sendRawTransaction", params: [raw] })));
      for (const { result } of sent) open.add(result);
      await readBlocks();
    }
    for (; open.size > 0; await sleep(50)) await readBlocks();
    const last = next - 1;
    const isFinal = async () => {
      const [block] = await post([{ method: "eth_getBlockByNumber", params: ["finalized", false] }]);
      return Number(block.result.number) >= last;
    };
    while (!(await isFinal())) await sleep(50);
    return { perSecond: total / ((performance.now() - startedMs) / 1000), operations: total };
  };
}
