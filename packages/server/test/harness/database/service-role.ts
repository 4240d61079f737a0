import { randomBytes } from "node:crypto";
import { createRolesScript, grantScript } from "../../../src/store/core/schema/database-roles.js";
import type { TestDatabase } from "./test-database.js";

export interface ServiceRole {
  /** Runs SQL with the rights that the documented role of the service has, as an attacker who holds its password could. */
  run: (script: string) => Promise<void>;
  drop: () => Promise<void>;
}

/**
 * The role of the service, as `bursar database roles` and `grants` make it, in a database whose tables belong to another role. It can also
 * change transactions and orders, as one with the grants of an earlier version: their MACs have to hold against that too.
 */
export async function createServiceRole(database: Pick<TestDatabase, "run">): Promise<ServiceRole> {
  const suffix = randomBytes(4).toString("hex");
  const roles = { owner: `owner_${suffix}`, service: `service_${suffix}` };
  await database.run(createRolesScript(roles));
  await database.run(grantScript(roles));
  await database.run(`GRANT UPDATE, DELETE ON transactions, orders TO ${roles.service}`);
  return {
    run: async (script) => {
      try {
        await database.run(`SET ROLE ${roles.service}; ${script}; RESET ROLE`);
      } finally {
        await database.run("RESET ROLE");
      }
    },
    drop: () =>
      database.run(`
        DROP OWNED BY ${roles.service}; DROP ROLE ${roles.service};
        DROP OWNED BY ${roles.owner}; DROP ROLE ${roles.owner}`),
  };
}
