import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const client = fileURLToPath(new URL("..", import.meta.url));
const modules = join(client, "../../node_modules");

/** What a user writes: both entries, with their types. */
const program = `
import { createBursar, fromUnits, isBursarError, type Bursar, type Transaction } from "@bursar/client";
import { createReceiver, openJournalStore, verifyWebhook, WebhookError } from "@bursar/client/webhooks";

export async function pay(baseUrl: string): Promise<Transaction["state"]> {
  const bursar: Bursar = createBursar({ baseUrl, credentials: { clientId: "cli_1", secret: "bsk_1" } });
  const created = await bursar.transactions.create({ reference: "a", asset: "USD", amount: fromUnits(100n, 2) });
  for await (const { state } of bursar.transactions.list({ asset: "USD" })) return state;
  // @ts-expect-error: amounts are strings
  await bursar.transactions.create({ reference: "a", asset: "USD", amount: 1 });
  // @ts-expect-error: there is no such state
  if (created.state === "done") return created.state;
  return created.state;
}

export async function receive(path: string) {
  const store = await openJournalStore(path);
  return createReceiver({ secrets: [], store, handle: (notification) => {
    if (notification.event === "transaction.updated") console.log(notification.data.transaction.amount.length);
  } });
}

export const isKnown = (error: unknown) => isBursarError(error, "POLICY_REJECTED") || error instanceof WebhookError;
void verifyWebhook;
`;

describe("the package that npm makes", () => {
  let folder: string;
  let tarball: string;
  let files: string[];
  let warnings: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "bursar-package-"));
    const run = (command: string, args: string[], cwd: string) =>
      execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    run(process.execPath, [join(modules, "typescript/bin/tsc"), "-b"], client);
    const packed = JSON.parse(
      run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], client),
    );
    files = packed[0].files.map(({ path }: { path: string }) => path);
    writeFileSync(join(folder, "package.json"), '{"name":"user","private":true,"type":"module"}');
    const install = [
      "install",
      "--offline",
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      `./${packed[0].filename}`,
    ];
    tarball = join(folder, packed[0].filename);
    const installed = spawnSync("npm", install, { cwd: folder, encoding: "utf8" });
    warnings = installed.stderr;
    expect(installed.status, warnings).toBe(0);
    // Node's own types, as a user has them.
    for (const name of ["@types/node", "undici-types"]) {
      mkdirSync(join(folder, "node_modules", name), { recursive: true });
      cpSync(join(modules, name), join(folder, "node_modules", name), { recursive: true });
    }
    writeFileSync(join(folder, "program.ts"), program);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("has the compiled modules, their types and the README, and nothing else", () => {
    const expected = /^(package\.json|README\.md|LICENSE|dist\/.*\.(js|d\.ts))$/;
    expect(
      files.filter((path) => !expected.test(path) || /test/.test(path.replace("sign-test-webhook", ""))),
    ).toEqual([]);
    expect(files).toContain("dist/index.js");
    expect(files).toContain("dist/webhooks/index.d.ts");
    expect(files).toContain("LICENSE");
  });

  it("has no fault for publint", async () => {
    const pkgDir = join(folder, "node_modules/@bursar/client");
    const { messages } = await publint({ pkgDir, pack: false, strict: true });
    const manifest = JSON.parse(readFileSync(join(pkgDir, "package.json"), "utf8"));
    expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
  });

  it("has no fault for attw, which holds its types against its modules", async () => {
    const result = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
    if (!result.types) throw new Error("it has no types");
    // As attw's profile `esm-only` does: the package has no CommonJS, and Node 10 does not know exports.
    const isIgnored = (kind: string | undefined) => kind === "node10" || kind === "node16-cjs";
    const problems = result.problems.filter(
      (problem) => !("resolutionKind" in problem && isIgnored(problem.resolutionKind)),
    );
    expect(problems).toEqual([]);
    expect(Object.keys(result.entrypoints)).toEqual([".", "./webhooks"]);
  });

  it("installs without other packages and without a warning about the engine, and can be imported", () => {
    expect(warnings).not.toMatch(/EBADENGINE|deprecated|ERESOLVE/);
    const { dependencies, private: isPrivate } = JSON.parse(
      readFileSync(join(client, "package.json"), "utf8"),
    );
    expect(dependencies).toBeUndefined();
    expect(isPrivate).toBeUndefined();
    const script = `const [a, b] = await Promise.all([import("@bursar/client"), import("@bursar/client/webhooks")]);
      console.log(typeof a.createBursar, typeof b.createReceiver);`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(printed.trim()).toBe("function function");
  });

  it.each([
    ["node16", "node16", ["es2023"]],
    ["bundler", "esnext", ["es2023", "dom", "dom.iterable"]],
  ])("has types under %s that compile without skipLibCheck", (moduleResolution, module, lib) => {
    const options = [
      "--noEmit",
      "--strict",
      "--exactOptionalPropertyTypes",
      "--skipLibCheck",
      "false",
      "--target",
      "es2023",
    ];
    const args = [
      "program.ts",
      ...options,
      "--module",
      module,
      "--moduleResolution",
      moduleResolution,
      "--lib",
      lib.join(","),
    ];
    const compile = () =>
      execFileSync(process.execPath, [join(modules, "typescript/bin/tsc"), ...args, "--types", "node"], {
        cwd: folder,
        encoding: "utf8",
        stdio: "pipe",
      });
    try {
      compile();
    } catch (error) {
      throw new Error((error as { stdout: string }).stdout);
    }
  });
});
