import { type ChainState, headOf } from "../chain/chain-state.js";
import { toHex } from "../chain/hex.js";
import { sendTransaction } from "../chain/pool.js";
import { RpcError, rpcCodes } from "../rpc-error.js";
import { type Heads, headsOf, isObject, numberAt, numberOf, resolveTags } from "./block-tags.js";
import { type Conditions, rangeRefusal, resultsRefusal } from "./conditions.js";
import { fromForked, toForked, withoutHiddenHashes } from "./forked-hashes.js";
import { type Method, methods } from "./methods.js";

/** How many blocks `safe` and `finalized` are behind the head. */
export interface Finality {
  readonly safeDepth: number;
  readonly finalDepth: number;
}

export interface View {
  readonly state: ChainState;
  readonly conditions: Conditions;
  readonly finality: Finality;
}

/** Answers a request as a node sees the chain: with its tags, its newest block, its chain id, its hashes and its limits. */
export async function carryOut(view: View, name: string, given: readonly unknown[]): Promise<unknown> {
  const method = methods[name];
  if (method === undefined)
    throw new RpcError(rpcCodes.methodNotFound, `the method ${name} does not exist/is not available`);
  const { state, conditions } = view;
  const heads = headsOf(headOf(state).number, view.finality, conditions.lagBlocks);
  const own = ownAnswer(conditions, heads, name);
  if (own !== undefined) return own;
  const params = resolveTags(method, knownParams(view, heads, given), heads);
  if (isHidden(method, params, heads)) {
    if (method.block?.unknown === "null") return null;
    throw new RpcError(rpcCodes.serverError, "header not found");
  }
  if (method.filter === true) refuseWideRange(conditions, params[0], heads);
  const result = visibleResult(await request(state, name, params), name, heads);
  if (method.filter === true) refuseManyResults(conditions, params[0], result, heads);
  return conditions.forkedFrom === undefined ? result : toForked(state, conditions.forkedFrom, result);
}

function ownAnswer({ chainId }: Conditions, { latest, lagging }: Heads, name: string): string | undefined {
  if (name === "eth_chainId" && chainId !== undefined) return toHex(chainId);
  if (name === "net_version" && chainId !== undefined) return chainId.toString();
  return name === "eth_blockNumber" && lagging ? toHex(latest) : undefined;
}

/** The parameters with hashes that the EVM knows, if the node knows the blocks. */
function knownParams({ state, conditions }: View, heads: Heads, given: readonly unknown[]): unknown[] {
  const real = conditions.forkedFrom === undefined ? given : fromForked(state, conditions.forkedFrom, given);
  return heads.lagging ? withoutHiddenHashes(state, heads.latest, [...real]) : [...real];
}

/** Whether a block is named by a number that the node has not reached. */
function isHidden({ block }: Method, params: readonly unknown[], heads: Heads): boolean {
  return heads.lagging && block !== undefined && (numberAt(params, block.at, heads) ?? 0) > heads.latest;
}

async function request(state: ChainState, name: string, params: readonly unknown[]): Promise<unknown> {
  if (name === "eth_sendRawTransaction") return await sendTransaction(state, params[0]);
  if (name === "eth_getBlockReceipts") return await getBlockReceipts(state, params[0]);
  const isFree = name === "eth_call" && state.identity.kind === "op";
  return await state.edr.request(name, isFree ? withFunds(params) : params);
}

/** The EVM charges the sender of a call on a chain of the OP stack for its data; nodes of these chains charge nobody. */
function withFunds([call, block = "latest", overrides = {}]: readonly unknown[]): unknown[] {
  if (!isObject(call) || !isObject(overrides) || Number(call["value"] ?? 0) > 0)
    return [call, block, overrides];
  const from = typeof call["from"] === "string" ? call["from"] : `0x${"0".repeat(40)}`;
  return [call, block, { [from]: { balance: toHex(10n ** 27n) }, ...overrides }];
}

/** The EVM lacks this method; nobody can mine between its parts. */
async function getBlockReceipts({ edr }: ChainState, named: unknown): Promise<unknown> {
  const hash = isObject(named) ? named["blockHash"] : named;
  const isHash = typeof hash === "string" && hash.length === 66;
  const number = isObject(named) ? named["blockNumber"] : named;
  const block = (await (isHash
    ? edr.request("eth_getBlockByHash", [hash, false])
    : edr.request("eth_getBlockByNumber", [number === "pending" ? "latest" : number, false]))) as {
    transactions: string[];
  } | null;
  if (block === null) return null;
  const receipts: unknown[] = [];
  for (const transaction of block.transactions)
    receipts.push(await edr.request("eth_getTransactionReceipt", [transaction]));
  return receipts;
}

/** What a lagging node makes of a transaction in a block that it does not have: it is pending, without a receipt. */
function visibleResult(result: unknown, name: string, { latest, lagging }: Heads): unknown {
  if (!lagging || !isObject(result) || !(Number(result["blockNumber"]) > latest)) return result;
  if (name === "eth_getTransactionReceipt") return null;
  if (name !== "eth_getTransactionByHash") return result;
  return { ...result, blockHash: null, blockNumber: null, transactionIndex: null };
}

function refuseWideRange(
  { logsRangeMax, provider = "infura" }: Conditions,
  filter: unknown,
  heads: Heads,
): void {
  const range = rangeOf(filter, heads);
  if (logsRangeMax === undefined || range === undefined) return;
  if (range.to - range.from + 1 > logsRangeMax)
    throw rangeRefusal(provider, range.from, range.to, logsRangeMax);
}

function refuseManyResults(
  { logsResultsMax, provider = "infura" }: Conditions,
  filter: unknown,
  result: unknown,
  heads: Heads,
): void {
  if (logsResultsMax === undefined || !Array.isArray(result) || result.length <= logsResultsMax) return;
  throw resultsRefusal(provider, rangeOf(filter, heads)?.from ?? 0, logsResultsMax);
}

function rangeOf(filter: unknown, heads: Heads): { from: number; to: number } | undefined {
  if (!isObject(filter) || filter["blockHash"] !== undefined) return undefined;
  const from = numberOf(filter["fromBlock"], heads);
  const to = numberOf(filter["toBlock"], heads);
  return from === undefined || to === undefined ? undefined : { from, to };
}
