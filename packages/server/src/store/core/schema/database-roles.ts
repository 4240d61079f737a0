import { readFileSync } from "node:fs";
import type { Database } from "../database.js";
import { sql } from "../sql.js";

const schemaFile = new URL("../../../../migrations/schema.sql", import.meta.url);

/** What the role of the service may do with most tables. */
const usual = "SELECT, INSERT, UPDATE, DELETE";
const appendedWithMac = "SELECT, INSERT, UPDATE (key_id, mac)";

/**
 * The tables for which the service needs less. It appends to the audit log and to the ledger, and moves the heads of the log; it changes
 * and removes nothing there. What a client has requested stays as it was accepted, with its idempotency key; only its MAC is written again,
 * for a new master key. Only the owner removes exported entries, and only the owner migrates.
 */
const exceptions: Readonly<Record<string, string>> = {
  audit_entries: "SELECT, INSERT",
  audit_heads: "SELECT, INSERT, UPDATE",
  audit_bases: "SELECT",
  audit_key_ends: "SELECT, INSERT",
  retained_keys: "SELECT, INSERT, UPDATE",
  ledger_entries: "SELECT, INSERT",
  events: "SELECT, INSERT",
  market_commands: appendedWithMac,
  transactions: appendedWithMac,
  orders: appendedWithMac,
  chain_attempts: "SELECT, INSERT",
  named_clients: "SELECT, INSERT",
  stop_records: "SELECT, INSERT",
  person_records: "SELECT, INSERT",
  wallet_entries: "SELECT, INSERT",
  // Without one of them, wallets would count as confirmed.
  wallet_doubts: "SELECT, INSERT",
  // A session is used, ends and is removed; a role is never changed. Their MACs are written again for a new master key.
  sessions: "SELECT, INSERT, DELETE, UPDATE (last_used_at, last_address, ended_at, key_id, mac)",
  roles: "SELECT, INSERT, DELETE, UPDATE (key_id, mac)",
  schema_migrations: "SELECT",
};

export interface RoleNames {
  owner: string;
  service: string;
  /** The schema with the tables; `public` if left out. */
  schema?: string;
}

/** Every table of the schema, from the generated file: a new table is included without further work. */
export function listSchemaTables(schema: string = readFileSync(schemaFile, "utf8")): string[] {
  return [...schema.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+) \(/gm)].map(([, name = ""]) => name);
}

/** The functions of its triggers: the owner of one could replace it. */
function listSchemaFunctions(schema: string = readFileSync(schemaFile, "utf8")): string[] {
  return [...schema.matchAll(/^CREATE OR REPLACE FUNCTION public\.(\w+)\(\)/gm)].map(([, name = ""]) => name);
}

/** SQL that creates the two roles. It can run on an empty database, and again. */
export function createRolesScript({ owner, service, schema = "public" }: RoleNames): string {
  const create = (role: string) =>
    `DO $$ BEGIN CREATE ROLE ${quote(role)} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;`;
  return [
    "-- The roles have no passwords yet. Set them with ALTER ROLE … PASSWORD, or with \\password in psql.",
    create(owner),
    create(service),
    ...(schema === "public" ? [] : [`CREATE SCHEMA IF NOT EXISTS ${quote(schema)};`]),
    `GRANT USAGE, CREATE ON SCHEMA ${quote(schema)} TO ${quote(owner)};`,
    `REVOKE CREATE ON SCHEMA ${quote(schema)} FROM PUBLIC, ${quote(service)};`,
    `GRANT USAGE ON SCHEMA ${quote(schema)} TO ${quote(service)};`,
  ].join("\n");
}

/** SQL that gives the tables to the owner. Needed once, if another role has migrated before. */
export function changeOwnerScript(
  { owner, schema = "public" }: Pick<RoleNames, "owner" | "schema">,
  tables = listSchemaTables(),
): string {
  const inSchema = (name: string) => `${quote(schema)}.${name}`;
  return [
    ...tables.map((table) => `ALTER TABLE ${inSchema(table)} OWNER TO ${quote(owner)};`),
    ...listSchemaFunctions().map(
      (name) => `ALTER FUNCTION ${inSchema(`${name}()`)} OWNER TO ${quote(owner)};`,
    ),
  ].join("\n");
}

/** SQL that lets the service use the tables. It runs after every migration, because a new table has no grants. */
export function grantScript(
  { service, schema = "public" }: Pick<RoleNames, "service" | "schema">,
  tables = listSchemaTables(),
): string {
  const role = quote(service);
  const inSchema = (name: string) => `${quote(schema)}.${name}`;
  const grants = tables.flatMap((table) => [
    `REVOKE ALL ON ${inSchema(table)} FROM ${role};`,
    `GRANT ${exceptions[table] ?? usual} ON ${inSchema(table)} TO ${role};`,
  ]);
  // Since PostgreSQL 17 a role that is not the owner can be allowed to run ANALYZE.
  const maintain = `DO $$ BEGIN
  IF current_setting('server_version_num')::int >= 170000 THEN
    EXECUTE 'GRANT MAINTAIN ON ${tables.map(inSchema).join(", ")} TO ${role.replaceAll("'", "''")}';
  END IF;
END $$;`;
  return [...grants, maintain].join("\n");
}

/** The name of the current role, if it owns the audit log: then it could also change it. */
export async function findOwningRole(database: Database): Promise<string | undefined> {
  const [row] = await database.query<{ role: string; isOwner: boolean }>(sql`
    SELECT current_user AS role, pg_has_role(relowner, 'USAGE') AS "isOwner"
    FROM pg_class WHERE oid = 'audit_entries'::regclass
  `);
  return row?.isOwner === true ? row.role : undefined;
}

function quote(role: string): string {
  return `"${role.replaceAll('"', '""')}"`;
}
