import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { freePort } from "../../../src/embedded/free-port.js";
import { createTestDatabase } from "../../harness/database/test-database.js";
import { blocksOf } from "../../harness/document-blocks.js";
import { sharedService } from "../../harness/service/shared-service.js";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));

/** All blocks as one program: the first makes the client that the others use. */
function programOf(blocks: string[], url: string, port: number): string {
  const imports = new Set<string>();
  const bodies = blocks.map((block) =>
    block.replaceAll(/^import .*;\n/gm, (line) => {
      imports.add(line);
      return "";
    }),
  );
  const [first = "", ...others] = bodies.map((body) =>
    body.replaceAll("https://pay.example", url).replaceAll("3000", String(port)),
  );
  const numbered = others.map((body, at) => `{\n${body}\nconsole.log("block ${at + 2} has ended");\n}`);
  return [
    ...namesOnce(imports),
    'const fetchToken = async () => ({ token: "token", expiresInSeconds: 900 });',
    first,
    ...numbered,
    "process.exit(0);",
  ].join("\n");
}

/** What the compiler finds in a program under `strict`. */
async function faultsOf(file: string): Promise<string> {
  const options = [
    "--ignoreConfig",
    "--strict",
    "--noEmit",
    "--skipLibCheck",
    "--target",
    "es2023",
    "--module",
    "nodenext",
  ];
  const args = [join(root, "node_modules/typescript/bin/tsc"), file, ...options, "--types", "node"];
  return await promisify(execFile)(process.execPath, args, { cwd: root }).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
}

/** Two blocks may import the same name. */
function namesOnce(imports: ReadonlySet<string>): string[] {
  const seen = new Set<string>();
  return [...imports].map((line) =>
    line.replace(/\{([^}]*)\}/, (_match, list: string) => {
      const names = list.split(",").map((name) => name.trim());
      const fresh = names.filter((name) => !seen.has(name));
      for (const name of fresh) seen.add(name);
      return `{ ${fresh.join(", ")} }`;
    }),
  );
}

it("every block of the client's README compiles under strict TypeScript, and runs", async () => {
  const service = await sharedService();
  const { clientId, secret } = await service.createTenant("1000");
  const database = await createTestDatabase("empty");
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const cache = join(root, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "client-readme-"));
  try {
    // A program that registers an endpoint is started again some day, and must not lose the secret.
    const blocks = blocksOf("packages/client/README.md", "ts").flatMap((block) =>
      block.includes("webhookEndpoints.create(") ? [block, block] : [block],
    );
    const program = programOf(blocks, service.url, await freePort());
    writeFileSync(join(folder, "readme.mts"), program);
    expect(await faultsOf(join(folder, "readme.mts"))).toBe("");
    writeFileSync(join(folder, "readme.mjs"), program);
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "readme.mjs")], {
      cwd: folder,
      env: {
        ...process.env,
        BURSAR_CLIENT_ID: clientId,
        BURSAR_CLIENT_SECRET: secret,
        PGHOST: hostname,
        PGPORT: port,
        PGUSER: decodeURIComponent(username),
        PGPASSWORD: decodeURIComponent(password),
        PGDATABASE: pathname.slice(1),
      },
    });
    expect(stdout).toContain("completed");
    expect(stdout).toContain("transaction.updated");
    expect(stdout).toContain("verified: true");
    expect(stdout).toContain("endpoint.test");
    expect(stdout).toContain(`block ${blocks.length} has ended`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await database.drop();
  }
});
