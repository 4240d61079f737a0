import { toHex } from "../chain/hex.js";
import type { Method } from "./methods.js";

/** The blocks that a node names by tags. */
export interface Heads {
  readonly latest: number;
  readonly safe: number;
  readonly finalized: number;
  /** The node does not have the newest blocks, so `latest` and `pending` are not those of the EVM. */
  readonly lagging: boolean;
}

/** The depths are numbers of blocks behind the head; a young chain is final up to its genesis block. */
export function headsOf(
  head: number,
  { safeDepth, finalDepth }: { readonly safeDepth: number; readonly finalDepth: number },
  lagBlocks = 0,
): Heads {
  const latest = Math.max(0, head - lagBlocks);
  const behind = (blocks: number) => Math.max(0, latest - blocks);
  return { latest, safe: behind(safeDepth), finalized: behind(finalDepth), lagging: lagBlocks > 0 };
}

/** The parameters with numbers instead of the tags that the EVM would answer wrongly, because its `safe` and `finalized` are its head. */
export function resolveTags(method: Method, params: readonly unknown[], heads: Heads): unknown[] {
  const resolved = [...params];
  if (method.block !== undefined) {
    const { at } = method.block;
    // A missing parameter means `latest`, unless others are missing before it.
    if (params.length >= at) setDefined(resolved, at, resolveTag(params[at], heads));
  }
  if (method.filter === true && isObject(params[0]) && params[0]["blockHash"] === undefined) {
    const { fromBlock, toBlock, ...rest } = params[0];
    resolved[0] = {
      ...rest,
      fromBlock: resolveTag(fromBlock, heads) ?? toHex(heads.latest),
      toBlock: atMost(resolveTag(toBlock, heads) ?? toHex(heads.latest), heads),
    };
  }
  return resolved;
}

function resolveTag(tag: unknown, { latest, safe, finalized, lagging }: Heads): unknown {
  switch (tag) {
    case "safe":
      return toHex(safe);
    case "finalized":
      return toHex(finalized);
    case undefined:
    case null:
    case "latest":
    case "pending":
      return lagging ? toHex(latest) : tag;
    default:
      return tag;
  }
}

/** A range can end after the newest block; a node that lags must not look there. */
function atMost(block: unknown, { latest, lagging }: Heads): unknown {
  return lagging && isQuantity(block) && Number(block) > latest ? toHex(latest) : block;
}

/** The number that a parameter gives: after `resolveTags` only `latest`, `pending` and `earliest` are left as tags. */
export function numberAt(params: readonly unknown[], at: number, heads: Heads): number | undefined {
  return numberOf(params[at], heads);
}

export function numberOf(block: unknown, heads: Heads): number | undefined {
  if (isQuantity(block)) return Number(block);
  if (isObject(block)) return numberOf(block["blockNumber"], heads);
  if (block === "earliest") return 0;
  return block === "latest" || block === "pending" ? heads.latest : undefined;
}

function isQuantity(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-f]{1,16}$/i.test(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function setDefined(params: unknown[], at: number, value: unknown): void {
  if (value !== undefined) params[at] = value;
}
