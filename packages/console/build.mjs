// Builds the console into packages/server/dist/console and compresses each file once, so that the service only reads them.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";

const config = fileURLToPath(new URL("vite.config.ts", import.meta.url));
const target = fileURLToPath(new URL("../server/dist/console", import.meta.url));
const compressed = new Set([".html", ".js", ".css", ".svg"]);

// Vite takes the kind of the libraries from here, and a test runner has set it.
process.env["NODE_ENV"] = "production";
const built = await build({ configFile: config });
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

// What a browser loads before it shows anything, and what each page adds to that, in gzipped bytes of scripts.
const limits = { initial: 220_000, page: 60_000 };
const { output } = /** @type {import("vite").Rollup.RollupOutput} */ (built);
const chunks = new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file]] : [])));

/** The names of a chunk and of all that it imports before it runs. @param {string} name @param {Set<string>} found */
function withImports(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const imported of chunks.get(name)?.imports ?? []) withImports(imported, found);
  return found;
}

/** @param {Iterable<string>} names */
const sizeOf = (names) =>
  [...names].reduce((sum, name) => sum + statSync(join(target, `${name}.gz`)).size, 0);
const entry = [...chunks.values()].find(({ isEntry }) => isEntry)?.fileName ?? "";
const initial = withImports(entry);
const sizes = [...chunks.values()].map(({ fileName, isDynamicEntry }) => {
  if (fileName === entry) return { fileName, bytes: sizeOf(initial), limit: limits.initial };
  const added = isDynamicEntry ? [...withImports(fileName)].filter((name) => !initial.has(name)) : [];
  return { fileName, bytes: sizeOf(added), limit: limits.page };
});
const faults = sizes
  .filter(({ bytes, limit }) => bytes > limit)
  .map(
    ({ fileName, bytes, limit }) =>
      `${fileName} has ${bytes} bytes with what it imports, and may have ${limit}.`,
  );
if (faults.length > 0) throw new Error(`The console is too large. ${faults.join(" ")}`);
