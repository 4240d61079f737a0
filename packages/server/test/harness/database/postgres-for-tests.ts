import { rmSync } from "node:fs";
import pino from "pino";
import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "../../../src/embedded/embedded-postgres.js";
import { openDatabase } from "../../../src/store/core/database.js";
import { createRolesScript, grantScript } from "../../../src/store/core/schema/database-roles.js";
import { migrate } from "../../../src/store/core/schema/migrate.js";
import { readMigrations } from "../../../src/store/core/schema/migrations.js";
import { createTemporaryFolder } from "../temporary-folder.js";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** The database that every test database is a copy of. */
export const templateName = "bursar_template";

/** Services in tests run as the documented role of the service: one that lacks a privilege fails the test of what needs it. */
const roles = { owner: "bursar_test_owner", service: "bursar_test_service" };
const rolePassword = "test";

/** One PostgreSQL for the whole run, with a migrated template in it; it goes when the run ends. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = createTemporaryFolder("test");
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log: pino({ level: "silent" }),
    onLost: (error) => {
      throw error;
    },
  });
  const admin = openDatabase({ url: postgres.url, connectionsMax: 1 });
  await admin.session((session) => session.script(cheapLogins(postgres.url)));
  await admin.session((session) => session.script(`CREATE DATABASE ${templateName}`));
  await admin.close();
  const template = openDatabase({ url: withDatabase(postgres.url, templateName), connectionsMax: 2 });
  await migrate(template, readMigrations());
  await template.session(async (session) => {
    await session.script(createRolesScript(roles));
    await session.script(grantScript(roles));
    await session.script(`ALTER ROLE ${roles.service} PASSWORD '${rolePassword}'`);
  });
  await template.close();
  project.provide("postgresUrl", postgres.url);
  return async () => {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

/**
 * A login with a password takes 13 ms of CPU, nearly all of it in 4096 rounds of a hash that protect a weak password. The tests log in
 * thousands of times, and this password is random.
 */
function cheapLogins(url: string): string {
  const { username, password } = new URL(url);
  return `SET scram_iterations = 1; ALTER ROLE ${username} PASSWORD '${password}'`;
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** The same database, as the role of the service sees it. */
export function asServiceRole(url: string): string {
  const changed = new URL(url);
  changed.username = roles.service;
  changed.password = rolePassword;
  return changed.href;
}
