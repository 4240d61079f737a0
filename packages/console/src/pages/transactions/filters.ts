import type { ListTransactionsQuery, Transaction } from "@bursar/client";
import { faultsOfTimes, readTime } from "../../ui/tables/typed-times";

export const states = [
  "accepted",
  "awaiting_approval",
  "processing",
  "broadcast",
  "confirming",
  "completed",
  "rejected",
  "failed",
  "cancelled",
] as const;

/** What the address of the page says: each member is absent if it does not restrict. */
export interface TransactionFilters {
  state?: Transaction["state"];
  asset?: string;
  wallet?: string;
  reference?: string;
  client?: string;
  /** In UTC. */
  from?: string;
  /** The first moment that is not in it. */
  until?: string;
}

const textMax = 200;

/** Reads the address, which anybody can have written: what is not a filter is left out. */
export function readFilters(search: Record<string, unknown>): TransactionFilters {
  const state = states.find((known) => known === search["state"]);
  const text = (name: string) => {
    const value = Object.hasOwn(search, name) ? search[name] : undefined;
    return typeof value === "string" && value !== "" ? value.slice(0, textMax) : undefined;
  };
  const time = (name: "from" | "until") => {
    const typed = text(name);
    return typed && readTime(typed, name === "until");
  };
  const found = {
    state,
    asset: text("asset"),
    wallet: text("wallet"),
    reference: text("reference"),
    client: text("client"),
    from: time("from"),
    until: time("until"),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** What is wrong with the times that were typed. The service is not asked with those. */
export function timeFaults(filters: TransactionFilters) {
  return faultsOfTimes(filters, ["from", "until"]);
}

export function toQuery({
  state,
  asset,
  wallet,
  reference,
  client,
  from,
  until,
}: TransactionFilters): ListTransactionsQuery {
  return {
    ...(state === undefined ? {} : { state: [state] }),
    ...(asset === undefined ? {} : { asset }),
    ...(wallet === undefined ? {} : { wallet_id: wallet }),
    ...(reference === undefined ? {} : { reference }),
    ...(client === undefined ? {} : { client_id: client }),
    ...(from === undefined ? {} : { created_after: from }),
    ...(until === undefined ? {} : { created_before: until }),
  };
}

/** Whether a transaction belongs into the list, as the service would decide it. */
export function matches(transaction: Transaction, filters: TransactionFilters): boolean {
  const { state, asset, wallet, reference, client, from, until } = filters;
  const createdMs = Date.parse(transaction.created_at);
  const parties: readonly (object | null)[] = [transaction.source, transaction.destination];
  return (
    (state === undefined || transaction.state === state) &&
    (asset === undefined || transaction.asset === asset) &&
    (reference === undefined || transaction.reference === reference) &&
    (client === undefined || transaction.created_by === client) &&
    (from === undefined || createdMs >= Date.parse(from)) &&
    (until === undefined || createdMs < Date.parse(until)) &&
    (wallet === undefined ||
      parties.some((party) => party !== null && "wallet_id" in party && party.wallet_id === wallet))
  );
}

/** An asset as the service writes it, if it was typed in another case; what is not known stays as it is. */
export function knownAsset(typed: string, codes: readonly string[]): string {
  const isTyped = (code: string) => code.toLowerCase() === typed.toLowerCase();
  return codes.includes(typed) ? typed : (codes.find(isTyped) ?? typed);
}
