import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** One step of the schema, from `migrations/NNNN_name.sql`. Steps are only ever added. */
export interface Migration {
  number: number;
  name: string;
  sql: string;
  checksum: string;
}

const migrationsDir = new URL("../../../../migrations/", import.meta.url);
const fileNamePattern = /^(\d{4})_([a-z0-9_]+)\.sql$/;

export function readMigrations(dir: URL = migrationsDir): Migration[] {
  const migrations = readdirSync(fileURLToPath(dir))
    .sort()
    .flatMap((fileName) => {
      const match = fileNamePattern.exec(fileName);
      if (match === null) return [];
      const sql = readFileSync(new URL(fileName, dir), "utf8");
      const checksum = createHash("sha256").update(sql).digest("hex");
      return [{ number: Number(match[1]), name: fileName, sql, checksum }];
    });
  migrations.forEach((migration, index) => {
    if (migration.number !== index + 1)
      throw new Error(`migration ${migration.name} is out of line: expected number ${index + 1}`);
  });
  return migrations;
}
