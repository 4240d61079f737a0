import { createAuditBuffer, type TenantDrafts } from "./audit-buffer.js";
import type { AuditDraft, AuditStore, AuditWrite, ClientOrigin } from "./audit-entry.js";

/**
 * Records what is too frequent for an audit entry of its own in the SQL transaction of the action: refused attempts, issued tokens,
 * and what clients create and cancel. Nothing waits for it. Entries are buffered for a moment and written together, one write at a
 * time. If the process is killed, the entries of that moment are lost; the objects themselves say which client has created them.
 */
export interface AuditRecorder {
  record: (draft: AuditDraft) => void;
  /** Records what a client did to an object: a map look-up and a push, because it is called for every created transaction. */
  recordAct: (origin: ClientOrigin, action: string, object: string) => void;
  /** Writes the rest of the buffer, and stops. */
  close: () => Promise<void>;
}

/**
 * What a failed write means. `unknown`: it may have been committed, because the answer to COMMIT was lost. `unavailable`: no other write
 * would succeed now. `failed`: it was not committed, and the entries of one tenant may be the reason.
 */
export type WriteFailure = "unknown" | "unavailable" | "failed";

export interface AuditRecorderOptions {
  store: Pick<AuditStore, "append">;
  classify: (error: unknown) => WriteFailure;
  /** Called when entries could not be written. They are kept for the next write, except for those that are `lost`. */
  onError: (error: unknown, lost: number) => void;
  /** Names this recorder in the database, so that a repeated write is found. */
  writerId: string;
  now: () => number;
}

const flushDelayMs = 500;
const closingTriesMax = 3;
/** The chains of these tenants are locked together, and whatever they do at that moment waits. */
const tenantsPerWriteMax = 100;
const entriesPerWriteMax = 1000;
/** If this many may have been written, no others are written until it is known. */
const doubtfulMax = 5000;

/** Entries that may have been written. They are written again as they are, with the same number, until the database says so. */
interface Doubtful {
  number: number;
  drafts: readonly AuditDraft[];
  attempts: AuditWrite["attempts"];
}

export function createAuditRecorder(options: AuditRecorderOptions): AuditRecorder {
  const { store, classify, onError, writerId, now } = options;
  const buffer = createAuditBuffer();
  let lastNumber = 0;
  let doubtful: Doubtful[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  const doubtfulCount = () => doubtful.reduce((sum, { drafts }) => sum + drafts.length, 0);
  const waitingCount = () => buffer.size() + doubtfulCount();

  function schedule(): void {
    if (writing !== undefined) return;
    if (buffer.isUrgent()) void flush();
    else timer ??= setTimeout(() => void flush(), flushDelayMs);
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (waitingCount() === 0) return;
    writing = writeAll();
    await writing;
    writing = undefined;
    if (waitingCount() > 0) timer ??= setTimeout(() => void flush(), flushDelayMs);
  }

  async function writeAll(): Promise<void> {
    await repeatDoubtful();
    if (doubtfulCount() >= doubtfulMax) return;
    await writeInTurn(toBatches(buffer.take()));
  }

  /** Keeps the rest for the next write if there is no use in trying; returns false then. */
  async function writeInTurn(batches: readonly (readonly TenantDrafts[])[]): Promise<boolean> {
    for (const [index, batch] of batches.entries()) {
      if (await write(batch)) continue;
      for (const { drafts } of batches.slice(index + 1).flat()) keep(drafts);
      return false;
    }
    return true;
  }

  async function repeatDoubtful(): Promise<void> {
    const repeated = doubtful;
    for (const one of repeated) {
      try {
        await append(one);
        doubtful = doubtful.filter((other) => other !== one);
      } catch (error) {
        onError(error, 0);
        if (classify(error) !== "failed") return;
      }
    }
  }

  /**
   * One commit for all. If that fails, one for each tenant, so that a chain that is locked does not hold up the others. Returns false if
   * there is no use in further writes.
   */
  async function write(tenants: readonly TenantDrafts[]): Promise<boolean> {
    const drafts = tenants.flatMap((tenant) => tenant.drafts);
    const batch: Doubtful = { number: ++lastNumber, drafts, attempts: [] };
    try {
      await append(batch);
      return true;
    } catch (error) {
      const failure = classify(error);
      if (failure === "failed" && tenants.length > 1) return writeInTurn(tenants.map((tenant) => [tenant]));
      if (failure === "unknown") doubtful.push(batch);
      else keep(drafts);
      onError(error, 0);
      return failure === "failed";
    }
  }

  function append({ number, drafts, attempts }: Doubtful): Promise<void> {
    const settledBelow = Math.min(number, ...doubtful.map((one) => one.number));
    return store.append(drafts, { writerId, number, settledBelow, attempts });
  }

  function keep(drafts: readonly AuditDraft[]): void {
    for (const draft of drafts) buffer.add(draft);
  }

  return {
    record: (draft) => {
      buffer.add(draft);
      schedule();
    },
    recordAct: (origin, action, object) => {
      buffer.addAct(origin, action, object, now());
      schedule();
    },
    close: async () => {
      await writing;
      for (let tries = 0; tries < closingTriesMax && waitingCount() > 0; tries++) await flush();
      clearTimeout(timer);
      if (waitingCount() > 0) onError(new Error("the service has stopped"), waitingCount());
    },
  };
}

/** What is written with one commit: few tenants, and few entries unless one tenant has more. */
function toBatches(taken: readonly TenantDrafts[]): TenantDrafts[][] {
  const batches: TenantDrafts[][] = [];
  let entries = 0;
  for (const tenant of taken) {
    const last = batches.at(-1);
    const isFull =
      last === undefined ||
      last.length >= tenantsPerWriteMax ||
      entries + tenant.drafts.length > entriesPerWriteMax;
    if (isFull) {
      batches.push([tenant]);
      entries = tenant.drafts.length;
    } else {
      last.push(tenant);
      entries += tenant.drafts.length;
    }
  }
  return batches;
}
