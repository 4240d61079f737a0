/** A request that creates something once, was sent, and whose answer has not come. */
export interface Unanswered<Body> {
  key: string;
  body: Body;
  sentAt: string;
}

export const prefix = "bursar.unanswered.";
/** They are readable to anybody who uses this browser profile, so they do not stay without an end. */
const keptMs = 30 * 86_400_000;

/** Until when a request that was sent then is kept here. */
export function keptUntil(sentAt: string): string {
  return new Date(Date.parse(sentAt) + keptMs).toISOString();
}

/** Those that can be read and are not too old, the oldest first. */
export function readUnanswered<Body>(items: readonly string[], nowMs: number): Unanswered<Body>[] {
  return items
    .map((item) => parse<Body>(item))
    .filter((request) => request !== undefined && isKept(request, nowMs))
    .map((request) => request as Unanswered<Body>)
    .sort((one, other) => one.sentAt.localeCompare(other.sentAt));
}

/** Of everybody who has used this browser. */
export function removeOld(storage: Storage, nowMs: number): void {
  for (const name of Object.keys(storage))
    if (name.startsWith(prefix) && readUnanswered([storage.getItem(name) ?? ""], nowMs).length === 0)
      storage.removeItem(name);
}

function isKept({ sentAt }: Unanswered<unknown>, nowMs: number): boolean {
  return nowMs - Date.parse(sentAt) < keptMs;
}

export function itemsBelow(storage: Storage, folder: string): string[] {
  const names = Object.keys(storage).filter((name) => name.startsWith(folder));
  return names.sort().map((name) => storage.getItem(name) ?? "");
}

function parse<Body>(item: string): Unanswered<Body> | undefined {
  try {
    const value = JSON.parse(item) as Partial<Unanswered<Body>> | null;
    return typeof value?.key === "string" && typeof value.sentAt === "string" && value.body != null
      ? (value as Unanswered<Body>)
      : undefined;
  } catch {
    return undefined;
  }
}
