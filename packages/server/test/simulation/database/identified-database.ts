import type { ObservedIdentity } from "../../../src/runtime/database/database-identity.js";
import { DatabaseGone } from "./database-faults.js";
import type { SimulatedDatabase } from "./simulated-database.js";

/**
 * The database as one process sees it, like the pool of `store/core/database.ts`: every connection finds out which database is behind it
 * before it is used, and work that began with another one fails.
 */
export function identifyConnections(
  database: SimulatedDatabase,
  identity: ObservedIdentity,
): SimulatedDatabase {
  function observe(): void {
    const number = database.epoch();
    const reading = {
      server: `server ${number}`,
      cluster: undefined,
      timeline: undefined,
      installation: undefined,
      epoch: { id: `epoch ${number}`, number, startedUs: 0 },
      position: 0,
    };
    identity.observe(reading, identity.known());
  }

  function createCheck(): () => void {
    const generation = identity.generation();
    return () => {
      if (identity.generation() !== generation) throw new DatabaseGone("the database is another one");
    };
  }

  return {
    ...database,
    query: async (actor, what, statement) => {
      const assertSame = createCheck();
      const result = await database.query(actor, what, (rows) => {
        observe();
        assertSame();
        return statement(rows);
      });
      assertSame();
      return result;
    },
    transaction: async (actor, work) => {
      const assertSame = createCheck();
      const result = await database.transaction(actor, (run) =>
        work((what, statement) =>
          run(what, (rows) => {
            observe();
            assertSame();
            return statement(rows);
          }),
        ),
      );
      assertSame();
      return result;
    },
  };
}
