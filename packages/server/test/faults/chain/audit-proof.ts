import { contracts } from "@bursar/devnet";
import type { Transaction } from "@bursar/protocol";
import { eventually } from "../../harness/eventually.js";
import { runBursar } from "../../harness/service/bursar-process.js";
import type { SentDeposit } from "./deposits.js";
import { digestOf } from "./event-receiver.js";
import type { RequestedPayment } from "./payouts.js";
import type { ProofChain } from "./proof-chain.js";
import type { ProofWorld } from "./proof-world.js";

/** What went wrong, a sentence for each fault, and what was counted. */
export interface ProofAudit {
  faults: string[];
  counts: Record<string, number>;
}

interface ChainTransfer {
  hash: string;
  from: string;
  asset: "ETH.DEV" | "USDC.DEV";
  amount: bigint;
}

/** Everything that moved on the chain, read block by block, without anything of the service. */
interface ChainRecord {
  /** By recipient. */
  transfers: ReadonlyMap<string, readonly ChainTransfer[]>;
  /** How many transactions each address has sent. */
  sent: ReadonlyMap<string, number>;
}

/** Compares what clients were promised, what the service says and what the chain has, when everything has ended. */
export async function auditProof(
  world: ProofWorld,
  payments: readonly RequestedPayment[],
  deposits: readonly SentDeposit[],
): Promise<ProofAudit> {
  const tenants = [...new Map(world.wallets.map(({ tenant }) => [tenant.tenantId, tenant])).values()];
  const transactions = new Map<string, Transaction>();
  for (const tenant of tenants)
    for await (const one of world.bursarOf(tenant).transactions.list({ limit: 200 }))
      transactions.set(one.id, one);
  const record = await readChain(world.chain);
  const faults = [
    ...auditPayments(payments, transactions, record, world),
    ...auditDeposits(deposits, transactions, record),
    ...(await auditWallets(world, record)),
    ...(await auditWebhooks(world, transactions)),
    ...(await auditBooks(world)),
  ];
  const counts: Record<string, number> = {};
  for (const { kind, state, failure } of transactions.values()) {
    const what = `${kind} ${failure?.code ?? state}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return { faults, counts };
}

const blocksAtOnce = 50;
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

async function readChain(chain: ProofChain): Promise<ChainRecord> {
  const transfers = new Map<string, ChainTransfer[]>();
  const sent = new Map<string, number>();
  const add = (to: string, transfer: ChainTransfer) =>
    transfers.set(to, [...(transfers.get(to) ?? []), transfer]);
  const head = Number(await chain.request("eth_blockNumber"));
  for (let first = 0; first <= head; first += blocksAtOnce) {
    const last = Math.min(head, first + blocksAtOnce - 1);
    for (let number = first; number <= last; number++) {
      const block = (await chain.request("eth_getBlockByNumber", [hex(number), true])) as {
        transactions: { hash: string; from: string; to: string | null; value: string }[];
      };
      for (const { hash, from, to, value } of block.transactions) {
        sent.set(from, (sent.get(from) ?? 0) + 1);
        const amount = BigInt(value);
        if (to !== null && amount > 0n) add(to, { hash, from, asset: "ETH.DEV", amount });
      }
    }
    const range = { fromBlock: hex(first), toBlock: hex(last), topics: [transferTopic] };
    const logs = (await chain.request("eth_getLogs", [{ ...range, address: contracts.USDC.address }])) as {
      transactionHash: string;
      topics: [string, string, string];
      data: string;
    }[];
    for (const { transactionHash: hash, topics, data } of logs)
      add(addressOf(topics[2]), {
        hash,
        from: addressOf(topics[1]),
        asset: "USDC.DEV",
        amount: BigInt(data),
      });
  }
  return { transfers, sent };
}

const hex = (number: number) => `0x${number.toString(16)}`;
const addressOf = (topic: string) => `0x${topic.slice(-40)}`;

function auditPayments(
  payments: readonly RequestedPayment[],
  transactions: ReadonlyMap<string, Transaction>,
  { transfers }: ChainRecord,
  { wallets }: ProofWorld,
): string[] {
  const own = new Set(wallets.map(({ address }) => address));
  // Each of them can be paid, so none may fail.
  const ended = new Set(["completed", "cancelled"]);
  return payments.flatMap(({ key, ids, address, asset, amount, source }) => {
    const [id = "", ...more] = ids;
    const transaction = transactions.get(id);
    if (more.length > 0) return [`${key} has the transactions ${[...ids].join(" and ")}`];
    if (transaction === undefined) return [`${key} was accepted as ${id}, which does not exist: lost`];
    if (!ended.has(transaction.state)) return [`${id} is ${transaction.failure?.code ?? transaction.state}`];
    const found = (transfers.get(address) ?? []).filter(
      (one) => !own.has(address) || one.hash === transaction.hash,
    );
    const paid = found.filter(
      (one) => one.asset === asset && one.amount === amount && one.from === source.address,
    );
    const expected = transaction.state === "completed" ? 1 : 0;
    if (paid.length === expected && found.length === expected) return [];
    return [`${id} is ${transaction.state}, and was paid ${paid.length} times (${found.length} transfers)`];
  });
}

function auditDeposits(
  deposits: readonly SentDeposit[],
  transactions: ReadonlyMap<string, Transaction>,
  { transfers }: ChainRecord,
): string[] {
  const credited = new Map<string, Transaction[]>();
  for (const one of transactions.values())
    if (one.kind === "deposit" && one.state === "completed" && one.hash !== null)
      credited.set(one.hash, [...(credited.get(one.hash) ?? []), one]);
  return deposits.flatMap(({ hash, wallet, asset, amount }) => {
    const found = (transfers.get(wallet.address) ?? []).filter((one) => one.hash === hash);
    const books = credited.get(hash) ?? [];
    if (found.length !== 1) return [`the deposit ${hash} is ${found.length} times on the chain`];
    const decimals = asset === "ETH.DEV" ? 18 : 6;
    const isRight = books.every((one) => one.asset === asset && baseUnits(one.amount, decimals) === amount);
    if (books.length === 1 && isRight) return [];
    return [
      `the deposit ${hash} of ${amount} ${asset} was credited ${books.length} times (${books[0]?.amount})`,
    ];
  });
}

function baseUnits(text: string, decimals: number): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(decimals, "0"));
}

/** Every nonce was used by one payment, in order: no gap, and nothing that the books do not know. */
async function auditWallets(world: ProofWorld, { sent }: ChainRecord): Promise<string[]> {
  const faults: string[] = [];
  for (const { id, address, tenant } of world.wallets) {
    const { sending } = await world.bursarOf(tenant).wallets.get(id);
    const used = sent.get(address) ?? 0;
    if (sending?.next_nonce !== used || sending.final_nonce !== used || sending.halted_reason != null)
      faults.push(`${id} has sent ${used} transactions, and says ${JSON.stringify(sending)}`);
  }
  return faults;
}

/** The last webhook of every transaction says what GET says, and none is missing before it. */
async function auditWebhooks(
  world: ProofWorld,
  transactions: ReadonlyMap<string, Transaction>,
): Promise<string[]> {
  const { seen } = world.receiver;
  // Being accepted, which is version 1, is no event.
  const isComplete = ({ id, version }: Transaction) => seen.get(id)?.versions.size === version - 1;
  const missing = () => [...transactions.values()].filter((one) => !isComplete(one)).length;
  await eventually(missing, (count) => count === 0, 300_000).catch(() => undefined);
  return [...transactions.values()].flatMap((one) => {
    const last = seen.get(one.id);
    if (!isComplete(one))
      return [`of ${one.id}, ${last?.versions.size ?? 0} of ${one.version - 1} webhooks have arrived`];
    return last?.digest === digestOf(one) ? [] : [`the last webhook of ${one.id} differs from GET`];
  });
}

async function auditBooks(world: ProofWorld): Promise<string[]> {
  const faults: string[] = [];
  for (const what of ["chain", "ledger"]) {
    const { code, output } = await runBursar(["audit", what], world.env);
    if (code !== 0) faults.push(`bursar audit ${what} ended with ${code}: ${output.slice(-2000)}`);
  }
  return faults;
}
