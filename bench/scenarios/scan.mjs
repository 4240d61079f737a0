import { contracts, faucet, spawnDevnet } from "../../packages/devnet/dist/index.js";
import { createEvmNode } from "../../packages/server/dist/rails/evm/node/evm-node.js";
import { nodeTimers } from "../../packages/server/dist/runtime/loops/timers.js";
import { connect } from "../load.mjs";
import { compare } from "../measure.mjs";
import { withSandbox } from "../sandbox.mjs";

const transfersPerBlock = 200;
const blockCount = 32;
const addressCount = 1_000_000;
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const token = contracts.USDC.address.toLowerCase();

/**
 * Looking for deposits in blocks of 200 transfers, half of them coins and half of them tokens, one in a hundred to a wallet of ours,
 * against a loop that only fetches the same blocks and logs. What is found is not recorded.
 * @param {import("../run.mjs").BenchOptions} options
 */
export async function scan({ rounds, seconds, rows = addressCount }) {
  const devnet = await spawnDevnet(["--manual"]);
  const node = openNode(devnet.url);
  try {
    await withSandbox(async (sandbox) => {
      const database = await connect(sandbox.databaseUrl);
      const { first, last, owned } = await mineTransfers(devnet);
      await createAddresses(database, "few_addresses", owned, 0);
      await createAddresses(database, "many_addresses", owned, rows);
      const processes = { bench: { pid: process.pid } };
      const scanWith = (/** @type {string} */ table) => () =>
        repeat(seconds, async () => {
          const blocks = await node.finalBlocks(first, last, watchOf(database, table));
          const found = blocks.flatMap(({ transfers }) => transfers).length;
          if (found !== owned.length) throw new Error(`${found} deposits instead of ${owned.length}`);
        });
      const fetchOnly = () => repeat(seconds, () => fetchBlocks(devnet.url, first, last));
      try {
        await compare("scan", rounds, [
          { name: "fetch loop", measure: fetchOnly, processes },
          { name: "scan", measure: scanWith("few_addresses"), processes },
          { name: "scan, many addresses", measure: scanWith("many_addresses"), processes },
        ]);
      } finally {
        await database.end();
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
      network: "eip155:31337",
      chainId: 31_337,
      rpcUrls: [url],
      finality: { tag: "finalized" },
      feeCap: 10n ** 12n,
      minimumTip: 10n ** 9n,
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

/** @param {import("pg").Client} database @param {string} table @param {readonly string[]} owned @param {number} others */
async function createAddresses(database, table, owned, others) {
  await database.query(`CREATE TEMP TABLE ${table} (address text PRIMARY KEY)`);
  await database.query(`INSERT INTO ${table} SELECT unnest($1::text[])`, [owned]);
  await database.query(
    `INSERT INTO ${table} SELECT '0x' || lpad(to_hex(number), 40, '0') FROM generate_series(1, $1::bigint) AS number`,
    [others],
  );
  await database.query(`ANALYZE ${table}`);
}

/** @param {import("pg").Client} database @param {string} table */
function watchOf(database, table) {
  return {
    tokens: [
      { asset: "ETH", contract: null },
      { asset: "USDC", contract: token },
    ],
    findOwned: async (/** @type {readonly string[]} */ addresses) => {
      const { rows } = await database.query(`SELECT address FROM ${table} WHERE address = ANY($1)`, [
        addresses,
      ]);
      return new Set(rows.map(({ address }) => String(address)));
    },
    findAttempts: async (/** @type {readonly string[]} */ hashes) => {
      const { rows } = await database.query(
        "SELECT hash FROM chain_attempts WHERE network = $1 AND hash = ANY($2)",
        ["eip155:31337", hashes],
      );
      return new Set(rows.map(({ hash }) => String(hash)));
    },
  };
}

/** Blocks per second. @param {number} seconds @param {() => Promise<unknown>} work */
async function repeat(seconds, work) {
  const startedMs = performance.now();
  let blocks = 0;
  while (performance.now() - startedMs < seconds * 1000) {
    await work();
    blocks += blockCount;
  }
  return { perSecond: (1000 * blocks) / (performance.now() - startedMs), operations: blocks };
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
