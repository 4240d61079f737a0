import type { Database, Queryable } from "../../../src/store/core/database.js";
import type { Statement } from "../../../src/store/core/sql.js";

/** Every statement that ran, by its text; each with the values of its runs. */
export type Recording = Map<string, Statement[]>;

/** Enough runs of one text to have seen each kind of value. */
const runsMax = 200;

/** The same database, which also writes down what it is asked. */
export function recordStatements(database: Database, recording: Recording): Database {
  const writeDown = (statement: Statement) => {
    const runs = recording.get(statement.text) ?? [];
    if (runs.length < runsMax) recording.set(statement.text, [...runs, statement]);
  };
  const recorded = <Q extends Queryable>(source: Q): Q => ({
    ...source,
    query: <Row>(statement: Statement) => {
      writeDown(statement);
      return source.query<Row>(statement);
    },
  });
  return {
    ...recorded(database),
    transaction: (work) =>
      database.transaction((tx) =>
        work({
          ...recorded(tx),
          send: (statement) => {
            writeDown(statement);
            tx.send(statement);
          },
        }),
      ),
    session: (work) => database.session((session) => work(recorded(session))),
  };
}
