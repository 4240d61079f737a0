import { Refusal } from "./refusal.js";

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The lists that have pages, and what the place in each is. */
const placePatterns = {
  clients: uuidPattern,
  transactions: uuidPattern,
  wallets: uuidPattern,
  orders: uuidPattern,
  trades: /^[1-9]\d{0,15}$/,
  destinations: uuidPattern,
  policy_versions: /^[1-9]\d{0,8}$/,
  "webhook-endpoints": uuidPattern,
  "webhook-deliveries": uuidPattern,
  audit: /^[1-9]\d{0,17}$/,
} as const;

type ListName = keyof typeof placePatterns;

/** A place in a list, opaque to clients. It holds no more than the place: whose list it is comes from the token alone. */
function writeCursor(list: ListName, place: string): string {
  return Buffer.from(`${list}:${place}`).toString("base64url");
}

export function readCursor(list: ListName, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const [name, place = ""] = Buffer.from(cursor, "base64url").toString("latin1").split(":");
  if (name === list && placePatterns[list].test(place)) return place;
  throw new Refusal("INVALID_REQUEST", {
    details: [{ path: "query.cursor", reason: "is not a cursor of this list" }],
  });
}

/** A page of a list, from one item more than it shows: that one says whether there is another page. */
export function toPage<Item, Shown>(
  list: ListName,
  found: readonly Item[],
  limit: number,
  placeOf: (item: Item) => string,
  present: (item: Item) => Shown,
): { data: Shown[]; next_cursor: string | null } {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { data: page.map(present), next_cursor: hasMore ? writeCursor(list, placeOf(last)) : null };
}
