// Builds the console into packages/server/dist/console and compresses each file once, so that the service only reads them.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";

const config = fileURLToPath(new URL("vite.config.ts", import.meta.url));
const target = fileURLToPath(new URL("../server/dist/console", import.meta.url));
const compressed = new Set([".html", ".js", ".css", ".svg"]);

await build({ configFile: config });
const files = readdirSync(target, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && compressed.has(extname(entry.name)))
  .map((entry) => join(entry.parentPath, entry.name));
await Promise.all(
  files.map(async (file) => {
    const bytes = readFileSync(file);
    writeFileSync(`${file}.gz`, await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }));
    writeFileSync(`${file}.br`, await promisify(brotliCompress)(bytes));
  }),
);
