import type { FastifyRequest } from "fastify";
import { itemsOfScan } from "../app/quotas/take-quota.js";
import { type Listed, scannedRowsMax } from "../app/requests/listed.js";
import { Refusal } from "./refusal.js";

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The paginated lists, and the form of a position in each. */
const positionPatterns = {
  clients: uuidPattern,
  people: uuidPattern,
  "change-requests": uuidPattern,
  transactions: uuidPattern,
  /** The deadline and the id. */
  deadlines: /^\d{1,16}\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  wallets: uuidPattern,
  orders: uuidPattern,
  trades: /^[1-9]\d{0,15}$/,
  destinations: uuidPattern,
  policy_versions: /^[1-9]\d{0,8}$/,
  "webhook-endpoints": uuidPattern,
  "webhook-deliveries": uuidPattern,
  /** The sequence and the line. */
  entries: /^[1-9]\d{0,15}\.\d{1,5}$/,
  audit: /^[1-9]\d{0,17}$/,
} as const;

type ListName = keyof typeof positionPatterns;

/** A position in a list, opaque to clients. It contains nothing else: the tenant comes from the token alone. */
function writeCursor(list: ListName, position: string): string {
  return Buffer.from(`${list}:${position}`).toString("base64url");
}

export function readCursor(list: ListName, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const [name, position = ""] = Buffer.from(cursor, "base64url").toString("latin1").split(":");
  if (name === list && positionPatterns[list].test(position)) return position;
  throw new Refusal("INVALID_REQUEST", {
    details: [{ path: "query.cursor", reason: "is not a cursor of this list" }],
  });
}

/** A page of a list, from one item more than it shows: if that one exists, there is another page. */
export function toPage<Item, Shown>(
  list: ListName,
  found: readonly Item[],
  limit: number,
  positionOf: (item: Item) => string,
  present: (item: Item) => Shown,
): { data: Shown[]; next_cursor: string | null } {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { data: page.map(present), next_cursor: hasMore ? writeCursor(list, positionOf(last)) : null };
}

/** A page of a list that reads a bounded number of rows: it continues after the last row that was looked at. All of them are charged. */
export function toBoundedPage<Item extends { id: string }, Shown>(
  request: Pick<FastifyRequest, "itemsFound">,
  list: ListName,
  { items, scannedTo }: Listed<Item>,
  limit: number,
  present: (item: Item) => Shown,
): { data: Shown[]; next_cursor: string | null } {
  const page = toPage(list, items, limit, ({ id }) => id, present);
  if (scannedTo !== undefined) request.itemsFound += itemsOfScan(scannedRowsMax);
  if (page.next_cursor !== null || scannedTo === undefined) return page;
  return { ...page, next_cursor: writeCursor(list, scannedTo) };
}
