import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { root } from "../files.mjs";

interface Listed {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, Listed>>;
}

/** Packages as name@version, once each. An optional package of another platform has no version. */
function listed({ dependencies = {} }: Listed, into = new Set<string>()): Set<string> {
  for (const [name, dependency] of Object.entries(dependencies)) {
    if (dependency.version !== undefined) into.add(`${name}@${dependency.version}`);
    listed(dependency, into);
  }
  return into;
}

function json(command: string, args: string[]): unknown {
  const { stdout } = spawnSync(command, args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 });
  return JSON.parse(stdout);
}

/** What the files of the console contain, and the console itself. */
const bundledIntoConsole = [
  "@bursar/console",
  "@tanstack/history",
  "@tanstack/query-core",
  "@tanstack/react-query",
  "@tanstack/react-router",
  "@tanstack/react-store",
  "@tanstack/react-virtual",
  "@tanstack/router-core",
  "@tanstack/store",
  "@tanstack/virtual-core",
  "cookie-es",
  "isbot",
  "react",
  "react-dom",
  "scheduler",
  "seroval",
  "seroval-plugins",
  "uqr",
  "use-sync-external-store",
];

it("the bill of materials lists what a production install has, and what is bundled into the console", () => {
  const bill = json("npm", ["run", "--silent", "sbom"]) as { components: { purl: string }[] };
  const components = bill.components.map(({ purl }) => decodeURIComponent(purl.replace("pkg:npm/", "")));
  const workspaces = ["packages/cli", "packages/server", "packages/signer"].flatMap((path) => [
    "--workspace",
    path,
  ]);
  const production = listed(json("npm", ["ls", "--omit=dev", "--all", "--json", ...workspaces]) as Listed);
  const bundled = components.filter((name) => !production.has(name));
  expect([...production].filter((name) => !components.includes(name))).toEqual([]);
  expect(bundled.map((name) => name.replace(/@[^@]*$/, "")).sort()).toEqual(bundledIntoConsole);
});

it("a production install has nothing of the development chain", () => {
  const args = ["ls", "--omit=dev", "--all", "--json", "--workspace", "packages/devnet"];
  expect([...listed(json("npm", args) as Listed)]).toEqual(["@bursar/devnet@0.1.0"]);
});
