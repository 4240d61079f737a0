import pg from "pg";

/**
 * The database cannot do its work for now, for reasons that have nothing to do with the statement. If the connection was lost during the
 * statement, whether it took effect is not known.
 */
export class DatabaseUnavailableError extends Error {}

/** The answer to a COMMIT was lost: the transaction took effect, or it did not. */
export class OutcomeUnknownError extends DatabaseUnavailableError {}

/**
 * SQLSTATEs after which a connection is replaced: the server shuts down, starts, has crashed, is read-only, or is out of time; or the
 * session is another one than the one that prepared the statements, as when a pooler is switched to transaction mode.
 */
const endingStates = new Set([
  ...["57P01", "57P02", "57P03", "57P05", "25006", "57014", "25P03"],
  ...["26000", "42P05"],
]);
const connectionExceptions = "08";
/**
 * Insufficient resources, system errors, transactions that lost against another one (serialization failure, deadlock). They are no fault of
 * the row that was written: as a refusal it would be blamed on every row in turn, and a client would be answered 500 instead of 503.
 */
const momentaryClasses = new Set(["53", "58", "40"]);
/** Another transaction held a lock for too long. */
export const lockNotAvailable = "55P03";

/** Whether the error is an answer of the server, after which the connection can be used. */
export function isAnswered(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return false;
  return !endingStates.has(error.code) && !error.code.startsWith(connectionExceptions);
}

/** Whether the server refuses what it was asked for, and would again. Anything else says nothing about the statement. */
function isRefusedByServer(error: unknown): boolean {
  if (!isAnswered(error)) return false;
  const code = (error as pg.DatabaseError).code ?? "";
  return !momentaryClasses.has(code.slice(0, 2)) && code !== lockNotAvailable;
}

/**
 * SQLSTATEs of a database whose schema is not the one that the service was prepared for: undefined table, column or function, no such schema,
 * no unique constraint for ON CONFLICT, other types than a plan was made for, no privilege. The statements of the service are fixed, so none of them is at fault: a restore
 * has not finished, or an operator has changed the schema or the role.
 */
const missingSchemaStates = new Set(["42P01", "42703", "42883", "3F000", "42P10", "0A000", "42501"]);

export function isSchemaMissing(error: unknown): boolean {
  return error instanceof pg.DatabaseError && missingSchemaStates.has(error.code ?? "");
}

/**
 * Throws the error of a connection that could not be made. Before the first one has succeeded, an unknown role or database is a mistake in
 * the configuration; afterwards the operator has removed it for a while, such as for a restore.
 */
export function explainConnection(error: unknown, hasConnected: boolean): never {
  if (!hasConnected || error instanceof TypeError) return explain(error);
  throw new DatabaseUnavailableError("the database is unavailable", { cause: error });
}

/** Throws the error as a refusal of the statement, or as one that says nothing about it. */
export function explain(error: unknown): never {
  // A value that cannot be sent is our own mistake.
  if (isRefusedByServer(error) || error instanceof TypeError) throw error;
  throw new DatabaseUnavailableError("the database is unavailable", { cause: error });
}
