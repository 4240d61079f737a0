import type { ListAuditQuery } from "@bursar/client";

export const actors = ["client", "operator", "anonymous", "service"] as const;
export const outcomes = ["succeeded", "refused"] as const;

/** The filters that are typed, with their labels. */
export const texts = [
  ["client_id", "Client or person id"],
  ["action", "Action"],
  ["object", "Object id"],
  ["request_id", "Request id"],
  ["occurred_after", "From (UTC)"],
  ["occurred_before", "Before (UTC)"],
] as const;

/** What the address of the page says: each member is absent if it does not restrict. */
export type AuditFilters = Omit<ListAuditQuery, "limit" | "cursor">;

const textMax = 200;

/** Reads the address, which anybody can have written: what is not a filter is left out. */
export function readAuditFilters(search: Record<string, unknown>): AuditFilters {
  const actor = actors.find((known) => known === search["actor"]);
  const outcome = outcomes.find((known) => known === search["outcome"]);
  const typed = texts.flatMap(([name]) => {
    const value = Object.hasOwn(search, name) ? search[name] : undefined;
    return typeof value === "string" && value !== "" ? [[name, value.slice(0, textMax)]] : [];
  });
  return { ...(actor && { actor }), ...(outcome && { outcome }), ...Object.fromEntries(typed) };
}
