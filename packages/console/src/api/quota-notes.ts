interface Note {
  remaining: number;
  burst: number;
  /** Milliseconds in which an empty bucket fills. */
  fillMs: number;
  notedAtMs: number;
}

export interface QuotaNotes {
  /** Reads `RateLimit` and `RateLimit-Policy` of a response. */
  note: (headers: Pick<Headers, "get">) => void;
  /** How long to wait until half of a class's quota is there again; 0 if it is, or if nothing is known. */
  msUntilHalf: (quotaClass: string) => number;
}

/** What the responses have said about quotas, so that work in bulk leaves half of them to everything else that the person does. */
export function createQuotaNotes(monotonicMs: () => number): QuotaNotes {
  const notes = new Map<string, Note>();
  return {
    note: (headers) => {
      const policies = read(headers.get("ratelimit-policy"), "q", "w");
      for (const [name, remaining] of read(headers.get("ratelimit"), "r", "t")) {
        const [burst, fillSeconds] = policies.get(name) ?? [];
        if (burst === undefined || fillSeconds === undefined) continue;
        const fillMs = fillSeconds * 1000;
        notes.set(name, { remaining: remaining[0], burst, fillMs, notedAtMs: monotonicMs() });
      }
    },
    msUntilHalf: (quotaClass) =>
      Math.max(...[quotaClass, `tenant-${quotaClass}`].map((name) => waitOf(notes.get(name), monotonicMs()))),
  };
}

function waitOf(note: Note | undefined, nowMs: number): number {
  if (note === undefined) return 0;
  const { remaining, burst, fillMs, notedAtMs } = note;
  const missing = Math.max(0, burst / 2 - remaining);
  return Math.max(0, (missing * fillMs) / burst - (nowMs - notedAtMs));
}

/** The two whole numbers of each item, as of `"manage";r=40;t=5`. */
function read(header: string | null, first: string, second: string): Map<string, [number, number]> {
  const items = (header ?? "").matchAll(new RegExp(`"([\\w-]+)";${first}=(\\d+);${second}=(\\d+)`, "g"));
  return new Map([...items].map(([, name = "", one, other]) => [name, [Number(one), Number(other)]]));
}
