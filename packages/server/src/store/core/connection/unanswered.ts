import type { Socket } from "node:net";
import type pg from "pg";
import type { Queryable } from "../database.js";
import { DatabaseUnavailableError } from "../database-unavailable-error.js";
import { confirmCommits } from "../rows/insert-or-find.js";

/**
 * Statements that the server does not answer in time. The usual case is a commit that waits for a synchronous standby: PostgreSQL neither
 * times it out nor notices that its client has gone, so a connection that is closed leaves a backend behind, and its replacement the next
 * one. Such a connection therefore stays open, and counts, until the server answers or the connection is lost.
 */
export interface Unanswered {
  /** Keeps a connection of the pool until its server answers, then removes it. */
  abandon: (client: pg.PoolClient) => void;
  /** Follows a commit, whose age tells whether the server hangs. */
  followCommit: (commit: Promise<unknown>) => void;
  /** Rejects while commits hang. After a statement without an answer, a small commit must succeed first. */
  assertCommits: (database: Queryable) => Promise<void>;
  /** Closes the abandoned connections. */
  close: () => void;
}

/** A commit takes milliseconds; one that takes this long waits for something that does not answer. */
const commitAgeMaxMs = 5000;

interface DriverClient {
  connection: { stream: Socket };
}

export class UnansweredError extends Error {}

/** The driver's own timeout closes the connection, and with it the knowledge of what became of its backend. */
export async function answerInTime<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    // Longer delays than this make a timer fire at once.
    const delayMs = Math.min(timeoutMs, 2 ** 31 - 1);
    timer = setTimeout(() => reject(new UnansweredError(`no answer in ${timeoutMs} ms`)), delayMs);
  });
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

export function createUnanswered(
  pool: pg.Pool,
  connectionsMax: number,
  monotonicMs: () => number,
): Unanswered {
  /** What removes each abandoned connection, and its socket. */
  const abandoned = new Map<() => void, Socket>();
  const commits = new Map<Promise<unknown>, number>();
  let isInDoubt = false;
  let checking: Promise<void> | undefined;

  /** Abandoned connections are replaced once: a process never has more than twice its connections. */
  function resize(): void {
    pool.options.max = connectionsMax + Math.min(abandoned.size, connectionsMax);
  }

  /** Writes to the log of the server and commits, which waits for the standby like any other commit. */
  async function checkCommit(database: Queryable): Promise<void> {
    await confirmCommits(database);
    isInDoubt = false;
  }

  return {
    abandon: (client) => {
      isInDoubt = true;
      const { stream } = (client as unknown as DriverClient).connection;
      if (stream.destroyed) {
        client.release(true);
        return;
      }
      const finish = () => {
        if (!abandoned.delete(finish)) return;
        resize();
        client.release(true);
      };
      abandoned.set(finish, stream);
      resize();
      client.once("drain", finish).once("end", finish);
    },
    followCommit: (commit) => {
      commits.set(commit, monotonicMs());
      const forget = () => void commits.delete(commit);
      commit.then(forget, forget);
    },
    assertCommits: async (database) => {
      const [oldestMs] = commits.values();
      if (oldestMs !== undefined && monotonicMs() - oldestMs > commitAgeMaxMs)
        throw new DatabaseUnavailableError("a commit waits for too long", {
          cause: new Error(`a commit has waited for more than ${commitAgeMaxMs} ms`),
        });
      if (!isInDoubt) return;
      // One at a time: while commits hang, each check keeps a connection until it times out.
      checking ??= checkCommit(database).finally(() => {
        checking = undefined;
      });
      await checking;
    },
    close: () => {
      for (const [finish, stream] of [...abandoned]) {
        stream.destroy();
        finish();
      }
    },
  };
}
