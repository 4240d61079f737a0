import { lineageMax } from "@bursar/domain";
import type { ApiClient } from "../../../app/clients/client.js";
import { refuseScopesOfController } from "../../../app/clients/client-authority.js";
import type { Refused } from "../../../app/requests/refused.js";
import type { KeyedQueryable } from "../../core/database.js";
import { type OnClientsRead, readAuthentic } from "./lineage.js";
import { readLinks } from "./proven-links.js";

/**
 * A client that has given another one its credentials may have kept one of them. What that client gets later, the first one gets as well: a
 * helpdesk that has recovered a viewer could pay as soon as an administrator lets the viewer pay. No caller therefore gives a client alone
 * what one that can act as it lacks.
 */
export async function refuseRaise(
  source: KeyedQueryable,
  client: ApiClient,
  scopes: ApiClient["scopes"],
  onRead: OnClientsRead | undefined,
): Promise<Refused | undefined> {
  const added = scopes.filter((scope) => !client.scopes.includes(scope));
  if (added.length === 0) return undefined;
  const lacking = await findLacking(source, client, added, onRead);
  return lacking === undefined ? undefined : refuseScopesOfController(client, lacking, added);
}

/** The first one found that can act as this client, or as one that can, and lacks a scope. Served by the primary key. */
async function findLacking(
  source: KeyedQueryable,
  client: ApiClient,
  added: ApiClient["scopes"],
  onRead: OnClientsRead | undefined,
): Promise<string | "too_many" | undefined> {
  const known = new Set([client.id]);
  const controllers = new Map<string, ApiClient>();
  let next = followed(client, known);
  while (next.length > 0) {
    if (known.size > lineageMax) return "too_many";
    const unread = next.filter((id) => !controllers.has(id));
    const isFirst = controllers.size === 0;
    // The clients behind the first ones are read together: in a chain there is one in each step.
    const ahead = isFirst || unread.length === 0 ? unread : await listBehind(source, unread);
    for (const one of await readAuthentic(source, ahead)) controllers.set(one.id, one);
    if (ahead.length > 0) onRead?.(ahead.length);
    const lacking = next.find((id) => !holds(controllers.get(id), added));
    if (lacking !== undefined) return lacking;
    next = next.flatMap((id) => followed(controllers.get(id), known));
  }
  return undefined;
}

/** One that was tampered with is read without scopes. One that was disabled may have kept a credential, and is to do nothing any more. */
function holds(controller: ApiClient | undefined, added: ApiClient["scopes"]): boolean {
  return controller?.state === "active" && added.every((scope) => controller.scopes.includes(scope));
}

/** These clients and those behind them, no more than tell that there are too many. */
async function listBehind(source: KeyedQueryable, ids: readonly string[]): Promise<string[]> {
  const max = Math.max(ids.length, lineageMax);
  const behind = await readLinks(source, ids, max);
  return [...new Set([...ids, ...behind.map(({ id }) => id)])].slice(0, max);
}

/** The controllers of a client that are not known yet. */
function followed(client: ApiClient | undefined, known: Set<string>): string[] {
  const found = (client?.controllers ?? []).filter((id) => !known.has(id));
  for (const id of found) known.add(id);
  return found;
}
