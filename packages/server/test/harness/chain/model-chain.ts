import { createHash } from "node:crypto";
import type { SigningIntent } from "../../../src/app/chain/signer.js";

/**
 * A model of an EVM chain: accounts with nonces, a pool, blocks that can be reorganised, and finality some blocks behind the head. It is the
 * truth that the books must agree with in the end. What happens is decided by its caller; it has no clock and no chance.
 */
export interface ModelChain {
  head: () => ModelBlock;
  final: () => ModelBlock;
  blocks: () => readonly ModelBlock[];
  pool: () => readonly ModelTransaction[];
  /** Refused if another transaction with the same nonce is in the pool and pays nearly as much, or if the nonce was used. */
  send: (bytes: string) => "taken" | "refused";
  /** Coins and tokens from outside. `hidden` ones are seen by no scan. Returns the hash. */
  pay: (transfers: readonly Transfer[], hidden?: readonly Transfer[]) => string;
  /** A transaction of an address that we did not send, as if its key were used elsewhere; or an authorisation, which is no transaction. */
  useNonce: (address: string, manner?: "transaction" | "authorisation") => void;
  /** The next block, with those that are chosen of the pool, and of what was replaced there. */
  mine: (choose: ChooseTransaction) => ModelBlock;
  /** Removes blocks. Their transactions return to the pool if they are chosen, and are forgotten otherwise. */
  reorganise: (depth: number, returns: (transaction: ModelTransaction) => boolean) => void;
  /** Another chain with the blocks before this number and the same pool. What it adds has other hashes, with this name in them. */
  branch: (number: number, name: string) => ModelChain;
  /** Replaces all hashes from a block on, final or not. */
  rewrite: (from: number) => void;
  /** Removes a transaction from the pool. */
  drop: (hash: string) => void;
  setBaseFee: (baseFee: bigint) => void;
  /** Decides which payments revert. */
  revert: (transactionId: string) => void;
  credit: (address: string, asset: string, amount: bigint) => void;
}

type ChooseTransaction = (transaction: ModelTransaction, isReplaced: boolean) => boolean;

interface Transfer {
  asset: string;
  from: string;
  to: string;
  amount: bigint;
}

interface ModelTransaction {
  hash: string;
  /** Undefined for a transaction from outside. */
  intent: SigningIntent | undefined;
  transfers: readonly Transfer[];
  hidden: readonly Transfer[];
}

export interface ExecutedTransaction extends ModelTransaction {
  success: boolean;
  fee: bigint;
  /** Of somebody else who has the key of this address. */
  strangerOf?: string;
}

export interface ModelBlock {
  number: number;
  hash: string;
  parentHash: string;
  baseFee: bigint;
  transactions: readonly ExecutedTransaction[];
  balances: ReadonlyMap<string, bigint>;
  nonces: ReadonlyMap<string, number>;
}

export const modelCoin = "ETH.SIM";
/** What a token that returns false is called: its transfers succeed and move nothing. */
export const falseToken = "FALSE.SIM";
export const modelTokens = [
  { asset: "USDC.SIM", contract: "0x00000000000000000000000000000000000000c1", decimals: 6 },
  { asset: falseToken, contract: "0x00000000000000000000000000000000000000c2", decimals: 6 },
];
/** What a transaction is charged beside its gas. */
export const modelDataFee = 500n;

const finalDepth = 4;
const nothing = { transactions: [], balances: new Map(), nonces: new Map() };
const genesis: ModelBlock = { number: 0, hash: "0xgenesis", parentHash: "0x", baseFee: 100n, ...nothing };

/** Without a pool, only the next nonce of an address is taken, and what is not in the next block is forgotten. */
export function createModelChain({
  hasPool = true,
  beginning = { blocks: [genesis], pool: [], name: "" },
}: {
  hasPool?: boolean;
  beginning?: { blocks: readonly ModelBlock[]; pool: readonly ModelTransaction[]; name: string };
} = {}): ModelChain {
  const { name } = beginning;
  let blocks = [...beginning.blocks];
  let pool = [...beginning.pool];
  let replaced: ModelTransaction[] = [];
  let baseFee = 100n;
  let forks = 0;
  let paid = 0;
  const reverting = new Set<string>();
  const top = () => blocks.at(-1) as ModelBlock;

  function send(bytes: string): "taken" | "refused" {
    const intent = readBytes(bytes);
    const hash = hashOfBytes(bytes);
    if (pool.some((one) => one.hash === hash)) return "taken";
    const used = top().nonces.get(intent.address) ?? 0;
    if (intent.nonce < used) return "refused";
    const waiting = pool.filter((one) => one.intent?.address === intent.address).length;
    if (!hasPool && intent.nonce > used + waiting) return "refused";
    const rival = pool.find(
      (one) => one.intent?.address === intent.address && one.intent.nonce === intent.nonce,
    );
    if (rival?.intent !== undefined) {
      const isHigher = (fee: "maxFeePerGas" | "maxPriorityFeePerGas") =>
        intent[fee] * 10n >= (rival.intent as SigningIntent)[fee] * 11n;
      if (!isHigher("maxFeePerGas") || !isHigher("maxPriorityFeePerGas")) return "refused";
    }
    if (rival !== undefined) replaced = [...replaced, rival];
    pool = [
      ...pool.filter((one) => one !== rival),
      { hash, intent, transfers: transfersOf(intent), hidden: [] },
    ];
    return "taken";
  }

  function mine(choose: ChooseTransaction): ModelBlock {
    const before = top();
    const balances = new Map(before.balances);
    const nonces = new Map(before.nonces);
    const transactions: ExecutedTransaction[] = [];
    const nonceOf = (one: ModelTransaction) => one.intent?.nonce ?? 0;
    for (const transaction of [...replaced, ...pool].toSorted((a, b) => nonceOf(a) - nonceOf(b))) {
      if (!choose(transaction, replaced.includes(transaction))) continue;
      const executed = execute(transaction, { balances, nonces, baseFee, reverting });
      if (executed !== undefined) transactions.push(executed);
    }
    const included = new Set(transactions.map(({ hash }) => hash));
    const isKept = ({ address, nonce }: SigningIntent) => hasPool && nonce >= (nonces.get(address) ?? 0);
    pool = pool.filter(({ hash, intent }) => !included.has(hash) && (intent === undefined || isKept(intent)));
    replaced = replaced.filter(({ intent }) => intent !== undefined && isKept(intent));
    const number = before.number + 1;
    const hash = `0xb${number}f${forks}${name}`;
    const block = { number, hash, parentHash: before.hash, baseFee, transactions, balances, nonces };
    blocks.push(block);
    return block;
  }

  return {
    head: top,
    final: () => blocks[Math.max(0, blocks.length - 1 - finalDepth)] as ModelBlock,
    blocks: () => blocks,
    pool: () => pool,
    send,
    pay: (transfers, hidden = []) => {
      paid += 1;
      const hash = `0xd${paid}${name}`;
      pool = [...pool, { hash, intent: undefined, transfers, hidden }];
      return hash;
    },
    useNonce: (address, manner = "transaction") => {
      const block = top();
      const nonce = block.nonces.get(address) ?? 0;
      const nonces = new Map(block.nonces).set(address, nonce + 1);
      const stranger = { hash: `0xs${address.slice(-4)}${nonce}`, intent: undefined, strangerOf: address };
      const executed = { ...stranger, transfers: [], hidden: [], success: true, fee: 0n };
      const transactions = manner === "transaction" ? [...block.transactions, executed] : block.transactions;
      blocks[blocks.length - 1] = { ...block, nonces, transactions };
    },
    mine,
    reorganise: (depth, returns) => {
      forks += 1;
      const kept = Math.max(blocks.length - Math.min(depth, finalDepth), 1);
      const removed = blocks.slice(kept).flatMap(({ transactions }) => transactions);
      blocks = blocks.slice(0, kept);
      const back = removed.filter(returns).filter(({ hash }) => !pool.some((one) => one.hash === hash));
      pool = [
        ...back.map(({ hash, intent, transfers, hidden }) => ({ hash, intent, transfers, hidden })),
        ...pool,
      ];
    },
    branch: (number, branchName) =>
      createModelChain({ hasPool, beginning: { blocks: blocks.slice(0, number), pool, name: branchName } }),
    rewrite: (from) => {
      blocks = blocks.map((block) =>
        block.number < from
          ? block
          : {
              ...block,
              hash: `${block.hash}r`,
              parentHash: block.number === from ? block.parentHash : `${block.parentHash}r`,
            },
      );
    },
    drop: (hash) => {
      pool = pool.filter((one) => one.hash !== hash);
    },
    setBaseFee: (fee) => {
      baseFee = fee;
    },
    revert: (transactionId) => void reverting.add(transactionId),
    credit: (address, asset, amount) => {
      const block = top();
      const balances = new Map(block.balances);
      add(balances, address, asset, amount);
      blocks[blocks.length - 1] = { ...block, balances };
    },
  };
}

interface Execution {
  balances: Map<string, bigint>;
  nonces: Map<string, number>;
  baseFee: bigint;
  reverting: ReadonlySet<string>;
}

/** Undefined if it cannot be in this block. */
function execute(
  transaction: ModelTransaction,
  { balances, nonces, baseFee, reverting }: Execution,
): ExecutedTransaction | undefined {
  const { intent, transfers, hidden } = transaction;
  if (intent === undefined) {
    for (const { to, asset, amount } of [...transfers, ...hidden]) add(balances, to, asset, amount);
    return { ...transaction, success: true, fee: 0n };
  }
  const { address, nonce, maxFeePerGas, maxPriorityFeePerGas, gasLimit, contract, amount, purpose } = intent;
  const value = contract === null ? amount : 0n;
  const needed = gasLimit * maxFeePerGas + modelDataFee + value;
  if (nonce !== (nonces.get(address) ?? 0) || maxFeePerGas < baseFee) return undefined;
  if (balanceOf(balances, address, modelCoin) < needed) return undefined;
  const wanted = baseFee + maxPriorityFeePerGas;
  const price = wanted < maxFeePerGas ? wanted : maxFeePerGas;
  const fee = ((gasLimit * 3n) / 4n) * price + modelDataFee;
  nonces.set(address, nonce + 1);
  add(balances, address, modelCoin, -fee);
  const success = purpose === "cancellation" || !reverting.has(intent.transactionId);
  const isMoved = (one: Transfer) => balanceOf(balances, one.from, one.asset) >= one.amount;
  const moved = success ? transfers.filter(isMoved) : [];
  for (const one of moved) {
    add(balances, one.from, one.asset, -one.amount);
    add(balances, one.to, one.asset, one.amount);
  }
  return { ...transaction, transfers: moved, success, fee };
}

function transfersOf(intent: SigningIntent): Transfer[] {
  const { address, destination, amount, contract } = intent;
  if (amount === 0n) return [];
  const asset = contract === null ? modelCoin : modelTokens.find((one) => one.contract === contract)?.asset;
  if (asset === undefined) throw new Error(`there is no token ${contract}`);
  return asset === falseToken ? [] : [{ asset, from: address, to: destination, amount }];
}

function add(balances: Map<string, bigint>, address: string, asset: string, amount: bigint): void {
  balances.set(`${address} ${asset}`, balanceOf(balances, address, asset) + amount);
}

export function balanceOf(balances: ReadonlyMap<string, bigint>, address: string, asset: string): bigint {
  return balances.get(`${address} ${asset}`) ?? 0n;
}

/** Bytes of this model are the intent itself. */
export function writeBytes(intent: SigningIntent): string {
  // Bytes do not depend on the order in which an intent was written.
  const fields = Object.fromEntries(Object.entries(intent).sort(([a], [b]) => (a < b ? -1 : 1)));
  const text = JSON.stringify(fields, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
  return `0x${Buffer.from(text).toString("hex")}`;
}

export function readBytes(bytes: string): SigningIntent {
  const text = Buffer.from(bytes.slice(2), "hex").toString();
  return JSON.parse(text, (_, value) =>
    typeof value === "string" && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  );
}

export function hashOfBytes(bytes: string): string {
  return `0x${createHash("sha256").update(bytes).digest("hex")}`;
}

/** As the real one: the bytes must be exactly the intent. */
export function verifyModelBytes(intent: SigningIntent, bytes: string): string {
  if (bytes !== writeBytes(intent)) throw new Error("the bytes are not the intent");
  return hashOfBytes(bytes);
}
