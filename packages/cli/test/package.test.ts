import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const cli = fileURLToPath(new URL("..", import.meta.url));
const modules = join(cli, "../../node_modules");

describe("the package that npm makes", () => {
  let folder: string;
  let files: string[];
  const run = (command: string, args: string[], cwd: string) =>
    execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "bursar-cli-package-"));
    run(process.execPath, [join(modules, "typescript/bin/tsc"), "-b"], cli);
    const pack = (path: string) => {
      const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
      return JSON.parse(run("npm", args, path))[0] as { filename: string; files: { path: string }[] };
    };
    const own = pack(cli);
    files = own.files.map(({ path }) => path);
    const all = [own, pack(join(cli, "../client")), pack(join(modules, "ws"))];
    writeFileSync(join(folder, "package.json"), '{"name":"user","private":true,"type":"module"}');
    const install = ["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"];
    run("npm", [...install, ...all.map(({ filename }) => `./${filename}`)], folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("has the compiled modules and the README, and nothing else", () => {
    const expected = /^(package\.json|README\.md|LICENSE|bin\/bursar\.mjs|dist\/.*\.js)$/;
    expect(files.filter((path) => !expected.test(path) || /test/.test(path))).toEqual([]);
    expect(files).toContain("dist/main.js");
    expect(files).toContain("LICENSE");
  });

  it("runs from an empty folder, without the commands of the server", () => {
    const bursar = join(folder, "node_modules/.bin/bursar");
    const home = join(folder, "home");
    mkdirSync(home);
    expect(run(bursar, ["--version"], folder)).toBe("0.1.0\n");
    const help = run(bursar, ["help"], folder);
    expect(help).toContain("tx create <amount> <asset>");
    expect(help).not.toContain("Commands of the operator");
    expect(run(bursar, ["completion", "bash"], folder)).not.toContain("migrate");
    expect(() => run(bursar, ["serve"], folder)).toThrow(/run it where the server is installed/);
  });
});
