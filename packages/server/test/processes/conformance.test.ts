import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBursar } from "@bursar/client";
import { beforeAll, expect, it } from "vitest";
import { hasBrowser, launchBrowser } from "../harness/browser.js";
import { startSandboxForFile } from "../harness/service/sandbox-commands.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

/** Bursar is a target of the conformance kit like any other: the kit is packed, installed elsewhere, and run as a command. */

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const folder = createTemporaryFolder("conformance");
const installed = join(folder, "node_modules/@bursar/conformance");
const sandbox = startSandboxForFile("conformance-sandbox");

interface KitReport {
  summary: string;
  conforms: boolean;
  checks: { id: string; level: string; result: string; reason?: string; expected?: string; seen?: string }[];
  left_behind: string[];
}

interface Credentials {
  clients: { name: string; client_id: string; client_secret: string }[];
}

const clientNamed = (name: string) => {
  const { clients } = JSON.parse(
    readFileSync(join(sandbox.dataDir, "credentials.json"), "utf8"),
  ) as Credentials;
  const client = clients.find((one) => one.name === name);
  if (client === undefined) throw new Error(`the sandbox has no client ${name}`);
  return client;
};

/** A rule that refuses large amounts, before those that the sandbox has. */
async function refuseLargeAmounts(): Promise<void> {
  const { client_id: clientId, client_secret: secret } = clientNamed("sandbox");
  const { policy } = createBursar({ baseUrl: sandbox.url(), credentials: { clientId, secret } });
  const { document, lastResponse } = await policy.get();
  const large = {
    name: "large",
    when: { amount: { asset: "USD", min: "500" } },
    action: "reject" as const,
    reason: "It is too large.",
  };
  const replaced = await policy.replace(
    { ...document, rules: [large, ...document.rules] },
    lastResponse.etag ?? "",
  );
  expect(replaced.object).toBe("policy");
}

beforeAll(() => {
  execFileSync(
    "npm",
    ["pack", "--silent", "--pack-destination", folder, join(root, "packages/conformance")],
    { cwd: folder },
  );
  const archive = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, archive), "-C", installed, "--strip-components=1"]);
  const { dependencies } = readJson(join(installed, "package.json")) as Manifest;
  for (const name of withDependencies(Object.keys(dependencies ?? {})))
    cpSync(join(root, "node_modules", name), join(folder, "node_modules", name), { recursive: true });
});

interface Manifest {
  dependencies?: Record<string, string>;
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));

/** What `npm install` would add beside the kit, taken from this checkout so that no registry is needed. */
function withDependencies(names: readonly string[]): Set<string> {
  const all = new Set<string>();
  const add = (name: string) => {
    if (all.has(name)) return;
    all.add(name);
    const { dependencies } = readJson(join(root, "node_modules", name, "package.json")) as Manifest;
    for (const own of Object.keys(dependencies ?? {})) add(own);
  };
  for (const name of names) add(name);
  return all;
}

function runKit(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ status: number; output: string }> {
  const bin = join(installed, "bin/bursar-conformance.mjs");
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [bin, ...args],
      { cwd: folder, env: { PATH: process.env["PATH"], ...env } },
      (error, out, err) => resolve({ status: error === null ? 0 : Number(error.code), output: out + err }),
    );
  });
}

it("Bursar passes every check of the contract and of its profiles", async () => {
  await refuseLargeAmounts();
  const [own, second, limited] = [clientNamed("sandbox"), clientNamed("other"), clientNamed("limited")];
  const target = join(folder, "target.yaml");
  writeFileSync(
    target,
    `second_tenant: { client_id: ${second.client_id}, client_secret_env: SECOND_SECRET }\nlimited: { client_id: ${limited.client_id}, client_secret_env: LIMITED_SECRET }\n`,
  );
  const files = { json: join(folder, "report.json"), html: join(folder, "report.html") };
  const args = [
    "--base-url",
    sandbox.url(),
    "--client-id",
    own.client_id,
    "--target",
    target,
    "--json",
    files.json,
    "--html",
    files.html,
  ];
  const secrets = {
    CONFORMANCE_CLIENT_SECRET: own.client_secret,
    SECOND_SECRET: second.client_secret,
    LIMITED_SECRET: limited.client_secret,
  };
  const { status, output } = await runKit(args, secrets);
  const report = JSON.parse(readFileSync(files.json, "utf8")) as KitReport;
  const notPassed = report.checks.filter(
    ({ result, reason }) => result !== "passed" && reason?.includes("--slow") !== true,
  );
  expect(notPassed).toEqual([]);
  expect({ status, conforms: report.conforms, left: report.left_behind }).toEqual({
    status: 0,
    conforms: true,
    left: [],
  });
  expect(output).toContain("conforms to contract 0.1.0");
  const html = readFileSync(files.html, "utf8");
  for (const text of [output, html, readFileSync(files.json, "utf8")])
    for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
  if (process.env["BURSAR_WRITE_CONFORMANCE_REPORT"] === "1")
    writeFileSync(join(root, "docs/reference/conformance-report.html"), html);
});

it.runIf(hasBrowser)(
  "a browser opens the report without a request or a violation of its policy",
  async () => {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      const seen: string[] = [];
      page.on("request", (request) => seen.push(request.url()));
      page.on("console", (message) => seen.push(message.text()));
      const url = `file://${join(folder, "report.html")}`;
      await page.goto(url);
      expect(await page.title()).toContain("Conformance of");
      expect(seen).toEqual([url]);
    } finally {
      await browser.close();
    }
  },
);
