import type { ListAuditQuery } from "@bursar/client";
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

/**
 * A time of UTC as a person writes it, such as `2026-11-17 19:26`; what cannot be read is left as it is, and the service says so. A day
 * alone is its beginning, or its end if it ends a range: what happened on that day is in the range.
 */
function readTime(text: string, isEnd: boolean): string {
  const parts = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?)?Z?$/.exec(text.trim());
  if (parts === null) return text;
  const [, day = "", minute, second = ":00"] = parts;
  if (minute === undefined && isEnd) return endOf(day) ?? text;
  return `${day}T${minute ?? "00:00"}${second}Z`;
}

/** What is wrong with the times that were typed. */
export function timeFaults(filters: AuditFilters): { occurred_after?: string; occurred_before?: string } {
  const names = (["occurred_after", "occurred_before"] as const).filter(
    (name) => filters[name] !== undefined && !isTime(filters[name]),
  );
  return Object.fromEntries(
    names.map((name) => [name, "is not a time, such as 2026-11-17 or 2026-11-17 19:26"]),
  );
}

/** `Date` reads the 31st of a month that has 30 days as the 1st of the next one. */
function isTime(text: string): boolean {
  const day = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/.exec(text)?.[1];
  const atMs = Date.parse(text);
  return day !== undefined && !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(day);
}

const dayMs = 86_400_000;

/** The moment after a day; undefined if there is no such day. */
function endOf(day: string): string | undefined {
  const beginMs = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(beginMs) ? undefined : `${new Date(beginMs + dayMs).toISOString().slice(0, 19)}Z`;
}
