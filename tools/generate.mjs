// Writes the files that are generated from the code. With --check it only lists the files that are out of date.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { commandsPage } from "../packages/cli/dist/help/commands-page.js";
import { contractPage } from "../packages/conformance/dist/contract/contract-page.js";
import {
  describeOrderStates,
  describeTransactionStates,
  errorCatalog,
  scopeCatalog,
} from "../packages/protocol/dist/index.js";
import { orderFailureMessages } from "../packages/server/dist/app/markets/present-order.js";
import { startEmbeddedPostgres } from "../packages/server/dist/embedded/embedded-postgres.js";
import { listRoutes } from "../packages/server/dist/http/api.js";
import { createEdge } from "../packages/server/dist/http/edge.js";
import { createLogger } from "../packages/server/dist/log.js";
import { openDatabase } from "../packages/server/dist/store/core/database.js";
import { migrate } from "../packages/server/dist/store/core/schema/migrate.js";
import { readMigrations } from "../packages/server/dist/store/core/schema/migrations.js";
import { architecturePage } from "./architecture-page.mjs";
import {
  clientErrorCodes,
  clientOperations,
  clientPasskeyOperations,
  clientSchemas,
  clientScopes,
  consoleAdvice,
} from "./client-types.mjs";
import { configurationPage, exampleConfiguration } from "./configuration-page.mjs";
import { root } from "./files.mjs";
import { limitsPage } from "./limits-page.mjs";
import { dumpSchema } from "./schema-dump.mjs";

const silent = createLogger("silent", false);

/** @type {Record<string, () => string | Promise<string>>} */
const artefacts = {
  "ARCHITECTURE.md": architecturePage,
  "docs/operating/limits.md": () => limitsPage(apiRoutes("")),
  "docs/reference/commands.md": commandsPage,
  "docs/reference/conformance.md": contractPage,
  "docs/reference/errors.md": errorsPage,
  "docs/reference/configuration.md": configurationPage,
  "docs/reference/bursar.example.yaml": exampleConfiguration,
  "docs/reference/scopes.md": scopesPage,
  "docs/reference/order-states.md": orderStatesPage,
  "docs/reference/transaction-states.md": transactionStatesPage,
  "openapi.json": () => servedDocument("/openapi.json"),
  "asyncapi.json": () => servedDocument("/asyncapi.json"),
  "packages/client/src/generated/error-codes.ts": () => clientErrorCodes(errorCatalog),
  "packages/client/src/generated/operations.ts": async () => clientOperations(await apiDocument()),
  "packages/client/src/generated/passkey-operations.ts": async () =>
    clientPasskeyOperations(await apiDocument()),
  "packages/client/src/generated/schemas.ts": async () => clientSchemas(await apiDocument()),
  "packages/client/src/generated/scopes.ts": async () => clientScopes(await apiDocument()),
  "packages/console/src/generated/error-advice.ts": () => consoleAdvice(errorCatalog),
  "packages/server/migrations/schema.sql": schemaFile,
};

const checkOnly = process.argv.includes("--check");
let stale = 0;
for (const [path, make] of Object.entries(artefacts)) {
  const file = join(root, path);
  const wanted = await make();
  if (existsSync(file) && readFileSync(file, "utf8") === wanted) continue;
  stale += 1;
  if (checkOnly) {
    console.error(`${path} is out of date: npm run generate`);
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, wanted);
    console.log(`wrote ${path}`);
  }
}
process.exit(checkOnly && stale > 0 ? 1 : 0);

function errorsPage() {
  const byStatus = Object.entries(errorCatalog).sort(([, one], [, other]) => one.status - other.status);
  const rows = byStatus.map(
    ([code, { status, when, advice, retry }]) =>
      `| \`${code}\` | ${status} | ${when[0]?.toUpperCase()}${when.slice(1)}. | ${advice} | ${retry === "never" ? "no" : "yes"} |`,
  );
  return `# Errors

<!-- Generated from packages/protocol/src/errors/error-catalog.ts by \`npm run generate\`. -->

Every error response has one JSON object as its body:

\`\`\`json
{
  "error": {
    "code": "INVALID_REQUEST",
    "message": "The request does not match its schema.",
    "request_id": "req_01jd3v8z4be2sanh3e2b7k5r9m",
    "doc_url": "https://bursar.example/docs/reference/errors#INVALID_REQUEST",
    "details": [{ "path": "body.amount", "reason": "is required" }]
  }
}
\`\`\`

\`code\` is for programs and \`message\` for people. \`request_id\` is also the \`X-Request-Id\` header of the response, and part of every log line of the request. \`doc_url\` leads to the entry of the code on this page, as the service shows it. \`details\` lists the fields at fault, if any. New codes may be added; handle an unknown one by its HTTP status.

| code | status | when | what to do | may the same request succeed later? |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

async function apiDocument() {
  return JSON.parse(await servedDocument("/openapi.json"));
}

/** @param {string} path */
async function servedDocument(path) {
  // The document only needs the definitions of the routes; their handlers are never called.
  const unused = /** @type {never} */ (undefined);
  const publicUrl = "http://127.0.0.1:8080";
  const app = await createEdge(
    {
      log: silent,
      readiness: unused,
      guard: {
        authenticator: unused,
        quotas: unused,
        shedder: unused,
        addresses: { wait: () => 0, take: () => 0, counts: { refused: 0 } },
        files: { admit: async () => 0 },
        redeemTicket: unused,
        verifySignature: unused,
        verifyPasskey: unused,
        audit: unused,
        publicUrl,
        now: unused,
      },
      newRequestId: () => "",
      isUnavailable: () => false,
      metricsToken: undefined,
      isMetricsLocalOpen: true,
      metrics: [],
      trustedProxies: undefined,
      proxyProtocol: false,
      securityTxt: { contact: undefined, expires: undefined },
      corsOrigins: undefined,
      now: () => 0,
      limits: {
        bodyBytes: 1,
        headerBytes: 1,
        jsonDepth: 1,
        headersTimeoutMs: 1,
        requestTimeoutMs: 1,
        requestsPerClient: 1,
        connectionsPerClient: 1,
        heavyRequestsPerTenant: 1,
        databaseConnections: 2,
        idleTimeoutMs: 1,
      },
    },
    apiRoutes(publicUrl),
  );
  return `${JSON.stringify((await app.inject(path)).json(), null, 2)}\n`;
}

/** @param {string} publicUrl */
function apiRoutes(publicUrl) {
  return listRoutes(/** @type {never} */ ({}), publicUrl);
}

function scopesPage() {
  const routes = apiRoutes("");
  const rows = Object.entries(scopeCatalog).map(([scope, about]) => {
    const own = routes
      .filter(({ access }) => access === scope || (Array.isArray(access) && access.includes(scope)))
      .map((route) => `\`${route.method} ${route.path}\``);
    return `| \`${scope}\` | ${about} | ${own.join("<br>") || "none yet"} |`;
  });
  return `# Scopes

<!-- Generated from the routes and packages/protocol/src/access/scopes.ts by \`npm run generate\`. -->

A client has scopes; a token has those of its client, or fewer if it requested fewer. A request needs a scope of both: removing a scope from a client removes it from its tokens, within 5 seconds. Each route requires one scope, or one of several; without it the response is 403 \`INSUFFICIENT_SCOPE\`, which names the scope. \`GET /v1/me\` admits every valid token.

Nobody gives away more than they have: a client can be given only scopes that the caller's token holds, and a client that holds more than the caller cannot be changed by the caller, because a caller that could give it a new secret could act as it.

| scope | allows | routes |
|---|---|---|
${rows.join("\n")}
`;
}

function transactionStatesPage() {
  const states = describeTransactionStates();
  return `# The states of a transaction

<!-- Generated from packages/domain/src/transaction/transitions.ts by \`npm run generate\`. -->

${statesTable(states)}

On the book a transaction goes from \`accepted\` to \`completed\`, \`failed\` or \`cancelled\` in one step. Every final state but \`completed\` releases the held funds; \`completed\` pays them.

${statesDiagram(states)}
`;
}

function orderStatesPage() {
  const states = describeOrderStates();
  const reasons = Object.entries(orderFailureMessages).map(
    ([code, message]) => `| \`${code}\` | ${message} |`,
  );
  return `# The states of an order

<!-- Generated from packages/domain/src/market/order-states.ts and packages/server/src/app/markets/present-order.ts by \`npm run generate\`. -->

${statesTable(states)}

The funds held for an order are paid as it is filled; every final state releases the rest. An amendment or a further fill does not change the state, but increases the version.

${statesDiagram(states)}

## Why an order was rejected or cancelled

An order that was \`rejected\`, or \`cancelled\` for a reason other than a request of its client, has the reason in \`failure\`:

| code | message |
|---|---|
${reasons.join("\n")}

If policy rejected it, \`message\` is the reason of the rule, and \`rule\` its name.
`;
}

/** @typedef {{ state: string, meaning: string, final: boolean, next: string[] }} DescribedState */

/** @param {DescribedState[]} states */
function statesTable(states) {
  const rows = states.map(
    ({ state, meaning, final, next }) =>
      `| \`${state}\` | ${meaning} | ${final ? "final" : next.map((name) => `\`${name}\``).join(" ")} |`,
  );
  return ["| state | meaning | may go to |", "|---|---|---|", ...rows].join("\n");
}

/** @param {DescribedState[]} states */
function statesDiagram(states) {
  const arrows = states.flatMap(({ state, next }) => next.map((name) => `  ${state} --> ${name}`));
  return ["```mermaid", "stateDiagram-v2", `  [*] --> ${states[0]?.state}`, ...arrows, "```"].join("\n");
}

async function schemaFile() {
  const dataDir = mkdtempSync(join(tmpdir(), "bursar-schema-"));
  // As root, PostgreSQL runs under another account, which needs access to the folder.
  chmodSync(dataDir, 0o711);
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log: silent,
    onLost: (error) => console.error(error),
  });
  const database = openDatabase({ url: postgres.url, connectionsMax: 2 });
  try {
    await migrate(database, readMigrations());
    return await dumpSchema(database);
  } finally {
    await database.close();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
