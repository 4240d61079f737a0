import type { ListAuditQuery } from "@bursar/client";
import { faultsOfTimes, readTime } from "../../ui/tables/typed-times";
import { requestsFor } from "./action-name";

export const actors = ["client", "operator", "anonymous", "service"] as const;
export const outcomes = ["succeeded", "refused"] as const;

/** The filters that are typed, with their labels. */
export const texts = [
  ["client_id", "Person or client, by name or id"],
  ["action", "Action, such as policy or policy.replace"],
  ["object", "Object id"],
  ["request_id", "Request id"],
  ["occurred_after", "From (UTC)"],
  ["occurred_before", "Until (UTC), days as a whole"],
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
    if (typeof value !== "string" || value === "") return [];
    const text = value.slice(0, textMax);
    return [[name, name.startsWith("occurred_") ? readTime(text, name === "occurred_before") : text]];
  });
  return { ...(actor && { actor }), ...(outcome && { outcome }), ...Object.fromEntries(typed) };
}

/** The service takes at most this many at once. */
const actionsMax = 32;

/**
 * What the service is asked. An action that is not written in full, such as `policy`, stands for all that begin so. Requests that were
 * refused are recorded by their path, and are asked for by the name under which they are shown.
 */
export function toAuditQuery({ action, ...others }: AuditFilters): AuditFilters {
  if (action === undefined) return others;
  if (/[ *,]/.test(action)) return { ...others, action };
  const isWhole = /^\w+\.\w+$/.test(action);
  const actions = [isWhole ? action : `${action}*`, ...requestsFor(action, isWhole)];
  return { ...others, action: actions.slice(0, actionsMax).join(",") };
}

/** What is wrong with the times that were typed. */
export function timeFaults(filters: AuditFilters) {
  return faultsOfTimes(filters, ["occurred_after", "occurred_before"]);
}
