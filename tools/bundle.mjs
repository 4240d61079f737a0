// Joins the built service and its libraries into a few files, in packages/server/dist/bundle: a start would otherwise load more than a
// thousand modules one by one, which took half of its CPU time. It is part of the build. Stack traces name the sources, by source maps.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { root } from "./files.mjs";

const dist = join(root, "packages/server/dist");
const keptMs = 3_600_000;

/**
 * Files are found by the address of the module that names them, so each module keeps the one that it was built at.
 *
 * @param {string} target
 * @returns {import("esbuild").Plugin}
 */
const keepAddresses = (target) => ({
  name: "keep-addresses",
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]packages[\\/]\w+[\\/]dist[\\/].*\.js$/ }, ({ path }) => {
      const address = relative(target, path).replaceAll("\\", "/");
      const contents = readFileSync(path, "utf8").replaceAll(
        "import.meta.url",
        `new URL(${JSON.stringify(address)}, import.meta.url).href`,
      );
      return { contents, resolveDir: dirname(path) };
    });
  },
});

/** @param {string} [target] the folder to write */
export async function bundle(target = join(dist, "bundle")) {
  const { outputFiles } = await build({
    entryPoints: [join(dist, "cli/program.js")],
    outdir: target,
    bundle: true,
    write: false,
    // Commands are loaded when they are used.
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    sourcemap: true,
    sourcesContent: false,
    legalComments: "none",
    // Half of the bytes; names stay as they are.
    minifyWhitespace: true,
    // Asked by pg in which environment it runs. Without it, pg makes a `Response`, for which Node loads its own HTTP client.
    define: { navigator: JSON.stringify({ userAgent: "Node.js" }) },
    logLevel: "warning",
    // An addition to pg that is not installed, and a library that reads a file beside it.
    external: ["pg-native", "tiny-secp256k1"],
    plugins: [keepAddresses(target)],
    // Libraries in the older module format call `require` for Node's own modules.
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
  });
  writeFolder(target, outputFiles);
}

/**
 * A command of this checkout may be starting: the parts, whose names change with their content, come before the program that names them,
 * and those of earlier builds are removed an hour later.
 *
 * @param {string} target
 * @param {{ path: string, contents: Uint8Array }[]} files
 */
function writeFolder(target, files) {
  mkdirSync(target, { recursive: true });
  const isProgram = (/** @type {string} */ path) => basename(path).startsWith("program.");
  for (const { path, contents } of files.toSorted(
    (a, b) => Number(isProgram(a.path)) - Number(isProgram(b.path)),
  )) {
    if (existsSync(path) && !isProgram(path)) continue;
    writeFileSync(`${path}.new`, contents);
    renameSync(`${path}.new`, path);
  }
  const written = new Set(files.map(({ path }) => basename(path)));
  for (const name of readdirSync(target)) {
    const path = join(target, name);
    if (!written.has(name) && statSync(path).mtimeMs < Date.now() - keptMs) rmSync(path);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle();
