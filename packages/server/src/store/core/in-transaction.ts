import pg from "pg";
import type { CommittedFact, CommitWitnesses } from "../../runtime/database/commit-witnesses.js";
import type { Session, Tx } from "./database.js";
import { DatabaseUnavailableError, isAnswered, OutcomeUnknownError } from "./database-unavailable-error.js";
import { type Statement, sql } from "./sql.js";

export interface CommitFollower {
  /** Called when a commit is sent, with its answer. */
  onSent: (commit: Promise<unknown>) => void;
  witnesses: CommitWitnesses;
  /** Of the database, when the transaction began. */
  generation: number;
}

/** Runs the work in a transaction on one connection: committed when it resolves, rolled back when it rejects. */
export async function inTransaction<T>(
  connection: Session,
  work: (tx: Tx) => Promise<T>,
  { onSent, witnesses, generation }: CommitFollower,
): Promise<T> {
  const facts: CommittedFact[] = [];
  const afterwards: (() => void)[] = [];
  const sent: Promise<unknown>[] = [];
  const send = (answer: Promise<unknown>) => {
    // Its failure is reported when all are awaited; until then it must not count as an unhandled rejection.
    answer.catch(() => undefined);
    sent.push(answer);
  };
  /** Why the server has aborted the transaction. What is sent together with that statement fails too, and may reject first. */
  let reason: unknown;
  const note = (error: unknown) => {
    if (!isAborted(error)) reason = error;
  };
  const query = <Row>(statement: Statement): Promise<Row[]> => {
    const answer = connection.query<Row>(statement);
    answer.catch(note);
    return answer;
  };
  // Nothing is sent before it is answered. Statements after a BEGIN that has failed would be committed one by one; it fails, for example,
  // if a pooler gives the connection a session that has not prepared it.
  await connection.query(sql`BEGIN`);
  let result: T;
  try {
    result = await work({
      query,
      send: (statement) => send(query(statement)),
      afterCommit: (one) => afterwards.push(one),
      witness: (fact) => facts.push(fact),
      entries: witnesses,
    });
  } catch (error) {
    // The first statement that failed is the reason; those after it only say that the transaction has failed.
    const [first = error] = await failures(sent);
    // If the connection is lost, the server rolls back by itself.
    if (!(first instanceof DatabaseUnavailableError) || isAnswered(first.cause))
      await connection.script("ROLLBACK");
    throw isAborted(first) ? (reason ?? first) : first;
  }
  // A COMMIT after a statement that failed is a rollback, and no error: what was sent before decides.
  for (const fact of facts) witnesses.sent(generation, fact);
  const commit = connection.query(sql`COMMIT`);
  onSent(commit);
  send(commit);
  await Promise.all(sent).catch((error: unknown) => {
    if (!(error instanceof DatabaseUnavailableError) || isAnswered(error.cause)) {
      for (const fact of facts) witnesses.settle(fact, false);
      throw error;
    }
    for (const fact of facts) witnesses.unanswered(fact);
    throw new OutcomeUnknownError("the answer to a commit was lost", { cause: error.cause });
  });
  for (const fact of facts) witnesses.committed(generation, fact);
  for (const one of afterwards) one();
  return result;
}

/** An earlier statement of the same transaction has failed. */
function isAborted(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "25P02";
}

async function failures(answers: readonly Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(answers);
  return settled.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
}
