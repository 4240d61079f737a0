import { lineageMax } from "@bursar/domain";
import type { RequestedRaise } from "../../../app/change-requests/change-request.js";
import type { ApiClient } from "../../../app/clients/client.js";
import {
  type RaisingChange,
  refuseScopesOfController,
  scopesGained,
} from "../../../app/clients/client-authority.js";
import type { Refused } from "../../../app/requests/refused.js";
import type { KeyedQueryable } from "../../core/database.js";
import { type OnClientsRead, readAuthentic } from "./lineage.js";
import { readLinks } from "./proven-links.js";

/**
 * A client that has given another one its credentials may have kept one of them. What that client gets later, the first one gets as well: a
 * helpdesk that has recovered a viewer could pay as soon as an administrator lets the viewer pay. The end of
 * `requireSignature` or of a stop gives it all that the client got before, from the operator or by an approved change. No caller therefore
 * gives a client alone what one that can act as it lacks, and those that would get it as well do not approve it.
 */
export async function refuseRaise(
  source: KeyedQueryable,
  client: ApiClient,
  change: RaisingChange,
  onRead: OnClientsRead | undefined,
): Promise<Refused | undefined> {
  const added = scopesGained(client, change);
  if (added.length === 0) return undefined;
  const { lackingIds, isWhole } = await findLacking(source, client, added, onRead);
  const [lacking] = lackingIds;
  if (lacking === undefined && isWhole) return undefined;
  return refuseScopesOfController(client, lacking ?? "too_many", added);
}

/** Of these approvers, those that would get by the change what they lack: they can act as the client, or a client that can may act as them. */
export async function findGainers(
  source: KeyedQueryable,
  { clientId, set }: RequestedRaise,
  approverIds: readonly string[],
  onRead: OnClientsRead | undefined,
): Promise<ReadonlySet<string>> {
  const [client] = await readAuthentic(source, [clientId]);
  const gained = client === undefined ? [] : scopesGained(client, set);
  if (client === undefined || gained.length === 0) return new Set();
  const { lackingIds, isWhole } = await findLacking(source, client, gained, onRead);
  if (!isWhole) return new Set(approverIds);
  const lacking = new Set(holds(client, gained) ? lackingIds : [clientId, ...lackingIds]);
  const gainers = new Set<string>();
  for (const approver of await readAuthentic(source, approverIds)) {
    const behind = await readControllers(source, approver, onRead);
    const actors = [approver.id, ...behind.controllers.keys()];
    if (!behind.isWhole || actors.some((id) => lacking.has(id))) gainers.add(approver.id);
  }
  return gainers;
}

/** Those that can act as this client, or as one that can, and lack a scope; not all of them if there are too many. */
async function findLacking(
  source: KeyedQueryable,
  client: ApiClient,
  gained: ApiClient["scopes"],
  onRead: OnClientsRead | undefined,
): Promise<{ lackingIds: readonly string[]; isWhole: boolean }> {
  const { controllers, isWhole } = await readControllers(source, client, onRead);
  const lacking = [...controllers].filter(([, controller]) => !holds(controller, gained));
  return { lackingIds: lacking.map(([id]) => id), isWhole };
}

interface ReadControllers {
  /** The nearest first; undefined for one that does not exist. */
  controllers: ReadonlyMap<string, ApiClient | undefined>;
  /** False if there are more than are compared. */
  isWhole: boolean;
}

/** The clients that can act as this one, or as one that can. Served by the primary key. */
async function readControllers(
  source: KeyedQueryable,
  client: ApiClient,
  onRead: OnClientsRead | undefined,
): Promise<ReadControllers> {
  const known = new Set([client.id]);
  const read = new Map<string, ApiClient>();
  const controllers = new Map<string, ApiClient | undefined>();
  let next = followed(client, known);
  while (next.length > 0) {
    if (known.size > lineageMax) return { controllers, isWhole: false };
    const unread = next.filter((id) => !read.has(id));
    const isFirst = read.size === 0;
    // The clients behind the first ones are read together: in a chain there is one in each step.
    const ahead = isFirst || unread.length === 0 ? unread : await listBehind(source, unread);
    for (const one of await readAuthentic(source, ahead)) read.set(one.id, one);
    if (ahead.length > 0) onRead?.(ahead.length);
    for (const id of next) controllers.set(id, read.get(id));
    next = next.flatMap((id) => followed(read.get(id), known));
  }
  return { controllers, isWhole: true };
}

/** One that was tampered with is read without scopes. One that was disabled may have kept a credential, and is to do nothing any more. */
function holds(controller: ApiClient | undefined, gained: ApiClient["scopes"]): boolean {
  return controller?.state === "active" && gained.every((scope) => controller.scopes.includes(scope));
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
