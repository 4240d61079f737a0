import { contracts, faucet, spawnDevnet } from "../../packages/devnet/dist/index.js";
import { createAssetRegistry } from "../../packages/domain/dist/index.js";
import { createIntegrityKeys } from "../../packages/server/dist/credentials/integrity-keys.js";
import { createKeyring } from "../../packages/server/dist/credentials/keyring.js";
import { createSealing } from "../../packages/server/dist/credentials/sealing.js";
import { createEvmNode } from "../../packages/server/dist/rails/evm/node/evm-node.js";
import { nodeTimers } from "../../packages/server/dist/runtime/loops/timers.js";
import { createChainStore } from "../../packages/server/dist/store/chain/chain-store.js";
import { macOfAddress } from "../../packages/server/dist/store/chain/wallets/wallet-integrity.js";
import { openDatabase, withKeys } from "../../packages/server/dist/store/core/database.js";
import { migrate } from "../../packages/server/dist/store/core/schema/migrate.js";
import { readMigrations } from "../../packages/server/dist/store/core/schema/migrations.js";
import { createEventLog } from "../../packages/server/dist/store/events/events.js";
import { connect } from "../load.mjs";
import { compare } from "../measure.mjs";
import { withSandbox } from "../sandbox.mjs";

const transfersPerBlock = 200;
const blockCount = 32;
const addressCount = 1_000_000;
const network = "eip155:31337";
/** Of whom does not matter. */
const tenantId = "00000000-0000-7000-8000-000000000001";
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const token = contracts.USDC.address.toLowerCase();

/**
 * Looking for deposits in blocks of 200 transfers, half of them coins and half of them tokens, one in a hundred to a wallet of ours,
 * against a loop that only fetches the same blocks and logs. Addresses are looked up by the store, as the driver does; what is found is
 * not recorded.
 * @param {import("../run.mjs").BenchOptions} options
 */
export async function scan({ rounds, seconds, rows = addressCount }) {
  const devnet = await spawnDevnet(["--manual"]);
  const node = openNode(devnet.url);
  try {
    await withSandbox(async ({ databaseUrl }) => {
      const { first, last, owned } = await mineTransfers(devnet);
      const few = await openAddresses(databaseUrl, "few", owned, 0);
      const many = await openAddresses(databaseUrl, "many", owned, rows);
      const processes = { bench: { pid: process.pid } };
      const scanWith =
        (/** @type {Addresses} */ { watch }) =>
        () =>
          repeat(seconds, async () => {
            const blocks = await node.finalBlocks(first, last, watch);
            const found = blocks.flatMap(({ transfers }) => transfers).length;
            if (found !== owned.length) throw new Error(`${found} deposits instead of ${owned.length}`);
          });
      const fetchOnly = () => repeat(seconds, () => fetchBlocks(devnet.url, first, last));
      try {
        await compare("scan", rounds, [
          { name: "fetch loop", measure: fetchOnly, processes },
          { name: "scan", measure: scanWith(few), processes },
          { name: "scan, many addresses", measure: scanWith(many), processes },
        ]);
      } finally {
        await few.close();
        await many.close();
      }
    });
  } finally {
    await node.close();
    await devnet.stop();
  }
}

/** @param {string} url */
function openNode(url) {
  return createEvmNode({
    network: {
      network,
      chainId: 31_337,
      rpcUrls: [url],
      finality: { tag: "finalized" },
      feeCap: 10n ** 12n,
      minimumTip: 10n ** 9n,
      tipMax: 20n * 10n ** 9n,
      hasDataFee: false,
      hasPool: true,
      tokens: [{ asset: "USDC", contract: token, decimals: 6 }],
    },
    timers: nodeTimers,
    monotonicMs: () => performance.now(),
    random: Math.random,
  });
}

/** Returns the range of the blocks, and the addresses that are ours. @param {import("../../packages/devnet/dist/index.js").SpawnedDevnet} devnet */
async function mineTransfers(devnet) {
  const [{ privateKeyToAccount }, { encodeFunctionData, parseAbi }] = await Promise.all([
    import("viem/accounts"),
    import("viem"),
  ]);
  const account = privateKeyToAccount(faucet.privateKey);
  const abi = parseAbi(["function transfer(address to, uint256 value)"]);
  const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 9n };
  /** @type {string[]} */
  const owned = [];
  /** @type {number[]} */
  const numbers = [];
  let nonce = Number(await devnet.request("eth_getTransactionCount", [faucet.address, "latest"]));
  for (let block = 0; block < blockCount; block++) {
    const raws = Array.from({ length: transfersPerBlock }, (_, index) => {
      const to = /** @type {`0x${string}`} */ (addressOf(BigInt(nonce)));
      if (index === 0 || index === 101) owned.push(to);
      const data = encodeFunctionData({ abi, functionName: "transfer", args: [to, 1n] });
      const call = index % 2 === 0 ? { to, value: 1n } : { to: contracts.USDC.address, data };
      const numbered = { chainId: 31_337, type: /** @type {const} */ ("eip1559"), nonce: nonce++ };
      return account.signTransaction({ ...numbered, gas: 80_000n, ...fees, ...call });
    });
    const [mined] = await devnet.control("devnet_mine", { transactions: await Promise.all(raws) });
    numbers.push(mined?.number ?? 0);
  }
  return { first: Math.min(...numbers), last: Math.max(...numbers), owned };
}

/** @param {bigint} number */
function addressOf(number) {
  return `0x${(0xabcn * 16n ** 36n + number).toString(16).padStart(40, "0")}`;
}

/**
 * What the driver of the network asks about blocks, from the store itself, in a schema with these addresses.
 * @typedef {Awaited<ReturnType<typeof openAddresses>>} Addresses
 * @param {string} url @param {string} schema @param {readonly string[]} owned @param {number} others
 */
async function openAddresses(url, schema, owned, others) {
  const keys = createIntegrityKeys(createSealing(createKeyring([Buffer.alloc(32, 7)])));
  const client = await connect(url);
  await client.query(`CREATE SCHEMA ${schema}`);
  const database = withKeys(openDatabase({ url, schema, connectionsMax: 4 }), keys);
  await migrate(database, readMigrations());
  await client.query(
    `ALTER TABLE ${schema}.chain_wallets DROP CONSTRAINT chain_wallets_tenant_id_wallet_id_fkey`,
  );
  for (const [index, address] of owned.entries()) {
    const walletId = `00000000-0000-7000-9000-${index.toString(16).padStart(12, "0")}`;
    const { keyId, mac } = macOfAddress(keys, { tenantId, walletId, network, address, shown: address });
    await client.query(
      `INSERT INTO ${schema}.chain_wallets (tenant_id, wallet_id, network, address, shown, key_id, mac)
      VALUES ($1, $2, $3, $4, $4, $5, $6)`,
      [tenantId, walletId, network, address, keyId, mac],
    );
  }
  await client.query(
    `INSERT INTO ${schema}.chain_wallets (tenant_id, wallet_id, network, address, shown)
    SELECT $1, gen_random_uuid(), $2, address, address
    FROM generate_series(1, $3::bigint) AS number, lateral (SELECT '0x' || lpad(to_hex(number), 40, '0')) AS given (address)`,
    [tenantId, network, others],
  );
  await client.query(`ANALYZE ${schema}.chain_wallets`);
  await client.end();
  const store = createChainStore(
    database,
    createEventLog({ publish: () => undefined }),
    createAssetRegistry([]),
  );
  const watch = {
    tokens: [
      { asset: "ETH", contract: null },
      { asset: "USDC", contract: token },
    ],
    findOwned: (/** @type {readonly string[]} */ addresses) => store.findOwned(network, addresses),
    findAttempts: (/** @type {readonly string[]} */ hashes) => store.findAttempts(network, hashes),
  };
  return { watch, close: database.close };
}

/** Blocks per second. @param {number} seconds @param {() => Promise<unknown>} work */
async function repeat(seconds, work) {
  const startedMs = performance.now();
  let blocks = 0;
  while (performance.now() - startedMs < seconds * 1000) {
    await work();
    blocks += blockCount;
  }
  const perSecond = (1000 * blocks) / (performance.now() - startedMs);
  return { perSecond, operations: blocks, figures: { "RSS MB": process.memoryUsage().rss / 1024 ** 2 } };
}

/** @param {string} url @param {number} first @param {number} last */
async function fetchBlocks(url, first, last) {
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => `0x${(first + index).toString(16)}`);
  const blocks = numbers.map((number, id) => ({
    id,
    method: "eth_getBlockByNumber",
    params: [number, true],
  }));
  const range = { fromBlock: numbers[0], toBlock: numbers.at(-1), address: [token], topics: [transferTopic] };
  for (const calls of [blocks, [{ id: 0, method: "eth_getLogs", params: [range] }]]) {
    const body = JSON.stringify(calls.map((call) => ({ jsonrpc: "2.0", ...call })));
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body });
    const answers = /** @type {unknown[]} */ (await response.json());
    if (answers.length !== calls.length) throw new Error("answers are missing");
  }
}
