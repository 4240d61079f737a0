import { protectingScopes, readId, type Scope, showId } from "@bursar/protocol";
import type { Principal } from "../access/authenticate-request.js";

/** The kinds of objects that a search finds, each with the scopes of which one is needed to read it. */
const searchedKinds = {
  transaction: ["transactions:read"],
  wallet: ["wallets:read"],
  order: ["orders:read"],
  client: ["clients:manage"],
  change_request: protectingScopes,
  destination: ["policies:read"],
  webhook_endpoint: ["webhooks:manage"],
  webhook_delivery: ["webhooks:manage"],
  audit_entry: ["audit:read"],
} as const satisfies Record<string, readonly Scope[]>;

/** A token must have one of these to search. */
export const searchScopes: readonly Scope[] = [...new Set(Object.values(searchedKinds).flat())];

export type SearchedKind = keyof typeof searchedKinds;

/** What the string was found in. */
export type SearchMatch = "id" | "idempotency_key" | "request_id" | "address" | "hash" | "reference";

const prefixes = {
  transaction: "tx",
  wallet: "wlt",
  order: "ord",
  client: "cli",
  change_request: "chr",
  destination: "dst",
  webhook_endpoint: "whe",
  webhook_delivery: "dlv",
} as const satisfies Partial<Record<SearchedKind, string>>;

interface SearchHit {
  kind: SearchedKind;
  /** As it is shown. */
  id: string;
  match: SearchMatch;
  /** The reference, name, label, URL or action; null if it has none. */
  label: string | null;
}

/** A hit as it is stored: a UUID, or the number of an audit entry. */
export type FoundRow = Omit<SearchHit, "kind"> & { kind: SearchedKind };

export interface SearchStore {
  /** At most `limit` rows, of the given kinds only, exact matches first. Each look-up is served by an index. */
  search: (wanted: SearchWanted) => Promise<FoundRow[]>;
}

export interface SearchWanted {
  tenantId: string;
  text: string;
  kinds: ReadonlySet<SearchedKind>;
  /** If the text is an id. */
  id: { kind: keyof typeof prefixes; uuid: string } | undefined;
  limit: number;
}

export type Search = (
  principal: Pick<Principal, "tenantId" | "scopes">,
  text: string,
) => Promise<SearchHit[]>;

const hitsMax = 20;

/** A caller finds only what its scopes let it read: another kind of object is not looked up at all. */
export function createSearch(store: SearchStore): Search {
  return async ({ tenantId, scopes }, text) => {
    const kinds = new Set(
      (Object.keys(searchedKinds) as SearchedKind[]).filter((kind) =>
        searchedKinds[kind].some((scope) => scopes.has(scope)),
      ),
    );
    if (kinds.size === 0) return [];
    const rows = await store.search({ tenantId, text, kinds, id: readAnyId(text), limit: hitsMax });
    const hits = new Map<string, SearchHit>();
    for (const row of rows) {
      const id = row.kind === "audit_entry" ? row.id : showId(prefixes[row.kind], row.id);
      if (!hits.has(`${row.kind} ${id}`)) hits.set(`${row.kind} ${id}`, { ...row, id });
    }
    return [...hits.values()].slice(0, hitsMax);
  };
}

function readAnyId(text: string): SearchWanted["id"] {
  for (const kind of Object.keys(prefixes) as (keyof typeof prefixes)[]) {
    const uuid = readId(prefixes[kind], text);
    if (uuid !== undefined) return { kind, uuid };
  }
  return undefined;
}
