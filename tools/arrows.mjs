// Checks which part of the code may import which. The table in ARCHITECTURE.md is generated from here. Types count as much as values.
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { parseSync } from "oxc-parser";
import { listFiles, root } from "./files.mjs";

/** The development chain is not part of a production install, so nothing else may import it: it is started by its path. */
const developmentPart = "packages/devnet/src";
/** The process that holds keys. The service talks to it over a socket and must not contain any of it. */
const signerPart = "packages/signer/src";
/** The conformance kit knows the contract and nothing of the service, which is one of its targets. */
const conformancePart = "packages/conformance/src";

/**
 * A part is the first of these prefixes that a file's path begins with; it may import itself, the listed parts and the
 * listed packages. `*` is everything.
 * @type {Record<string, { parts: string[], packages: string[] }>}
 */
export const arrows = {
  // It is published with the client alone. The server's commands are found when it runs, and not imported.
  "packages/cli/src": { parts: ["packages/client/src"], packages: ["node"] },
  // It is published alone, so it has nothing of the others in it; its types are generated from the OpenAPI document.
  "packages/client/src": { parts: [], packages: ["node", "#ws"] },
  // It runs in browsers and knows the service only by its API.
  "packages/console/src": {
    parts: ["packages/client/src"],
    packages: ["react", "react-dom", "@tanstack", "uplot"],
  },
  "packages/domain/src": { parts: [], packages: [] },
  [conformancePart]: { parts: [], packages: ["node", "ajv", "ajv-formats", "ws", "yaml"] },
  [developmentPart]: { parts: [], packages: ["node", "typebox", "viem"] },
  [signerPart]: { parts: [], packages: ["node", "@noble", "@scure", "tiny-secp256k1"] },
  "packages/protocol/src": { parts: ["packages/domain/src"], packages: ["typebox", "structured-headers"] },
  ...server({
    runtime: { parts: [], packages: ["node", "lru-cache", "p-limit", "ipaddr.js"] },
    app: { parts: ["runtime", "domain", "protocol"], packages: ["node", "lru-cache", "p-limit"] },
    credentials: {
      parts: ["runtime", "app", "domain", "protocol", "operator-error.ts"],
      packages: ["node", "jose", "openid-client", "@simplewebauthn", "undici"],
    },
    store: { parts: ["runtime", "app", "domain", "operator-error.ts"], packages: ["node", "pg", "pino"] },
    engine: { parts: ["runtime", "app", "domain"], packages: [] },
    rails: {
      parts: ["runtime", "app", "domain", "operator-error.ts"],
      packages: ["node", "undici", "p-limit", "@noble", "tiny-secp256k1"],
    },
    markets: { parts: ["runtime", "app", "domain"], packages: [] },
    webhooks: { parts: ["runtime", "app", "domain"], packages: ["node", "undici", "lru-cache", "ipaddr.js"] },
    embedded: { parts: ["operator-error.ts"], packages: ["node", "pino"] },
    http: {
      parts: ["runtime", "app", "protocol"],
      packages: ["node", "fastify", "@fastify", "@scalar", "typebox", "ajv", "ajv-formats", "prom-client"],
    },
    stream: {
      parts: ["runtime", "app", "protocol"],
      packages: ["node", "ws", "pino", "typebox", "lru-cache", "p-limit"],
    },
    config: { parts: ["domain"], packages: ["node", "yaml"] },
    cli: { parts: ["*"], packages: ["node", "commander"] },
    compose: { parts: ["*"], packages: ["node", "pino"] },
    "main.ts": { parts: ["*"], packages: ["*"] },
    "listen.ts": { parts: ["operator-error.ts"], packages: ["node", "fastify"] },
    "log.ts": { parts: ["runtime"], packages: ["pino", "pino-pretty"] },
    "version.ts": { parts: [], packages: ["node"] },
    "operator-error.ts": { parts: [], packages: [] },
  }),
};

/** @param {Record<string, { parts: string[], packages: string[] }>} rows */
function server(rows) {
  const full = (/** @type {string} */ name) =>
    name === "*"
      ? "*"
      : name === "domain" || name === "protocol"
        ? `packages/${name}/src`
        : `packages/server/src/${name}`;
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [full(name), { ...row, parts: row.parts.map(full) }]),
  );
}

/** @param {string} path */
function partOf(path) {
  return Object.keys(arrows).find((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}

/** @param {string} path @param {string} source @returns {string[]} one sentence for each forbidden import */
export function findForbiddenImports(path, source) {
  const part = partOf(path);
  if (part === undefined) return [`${path} belongs to no part: add a row for it in tools/arrows.mjs`];
  const allowed = /** @type {{ parts: string[], packages: string[] }} */ (arrows[part]);
  return listImports(path, source).flatMap((specifier) => {
    const target = resolvePart(path, specifier);
    if (target === undefined) {
      const name = packageOf(specifier);
      const permitted = allowed.packages.some((entry) => entry === "*" || entry === name);
      return permitted ? [] : [`${path} imports the package ${specifier}`];
    }
    const permitted =
      target === part ||
      allowed.parts.includes(target) ||
      (allowed.parts.includes("*") && ![developmentPart, signerPart, conformancePart].includes(target));
    return permitted ? [] : [`${path} imports ${target}`];
  });
}

/** The package of an import: `node` for Node's own modules, the scope for a scoped one. @param {string} specifier */
function packageOf(specifier) {
  return specifier.startsWith("node:") ? "node" : specifier.split("/")[0];
}

/** @param {string} path @param {string} source */
function listImports(path, source) {
  const { module, errors } = parseSync(path, source);
  const [fault] = errors;
  if (fault !== undefined) throw new Error(`${path}: ${fault.message}`);
  const text = (/** @type {{ start: number, end: number }} */ span) =>
    source.slice(span.start, span.end).replace(/^["']|["']$/g, "");
  return [
    ...module.staticImports.map((entry) => entry.moduleRequest.value),
    ...module.staticExports.flatMap((entry) =>
      entry.entries.flatMap((item) => (item.moduleRequest ? [item.moduleRequest.value] : [])),
    ),
    ...module.dynamicImports.map((entry) => text(entry.moduleRequest)),
    // A type can be imported inside an expression, which the parser's list of imports does not include.
    ...[...source.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)/g)].flatMap((match) => match[1] ?? []),
  ];
}

/** The part that an import leads to; undefined for a package. @param {string} from @param {string} specifier */
function resolvePart(from, specifier) {
  const own = /^@bursar\/(\w+)/.exec(specifier);
  if (own !== null) return `packages/${own[1]}/src`;
  if (!specifier.startsWith(".")) return undefined;
  const path = normalize(join(dirname(from), specifier)).replace(/\.js$/, ".ts");
  return partOf(path) ?? path;
}

if (process.argv[1] === import.meta.filename) {
  const faults = listFiles("packages/*/src/**/*.ts")
    .filter((path) => !path.endsWith(".test.ts"))
    .flatMap((path) => findForbiddenImports(path, readFileSync(join(root, path), "utf8")));
  for (const fault of faults) console.error(fault);
  process.exit(faults.length === 0 ? 0 : 1);
}
