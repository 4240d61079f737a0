import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canRead } from "../../src/embedded/postgres-account.js";
import { spawnBursar } from "../harness/service/bursar-process.js";

const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65_534, gid: 65_534 };
const checkout = fileURLToPath(new URL("../../../..", import.meta.url));

describe("the command line", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "bursar-cli-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = async (args: string[], env: Record<string, string> = {}) => {
    const bursar = spawnBursar({ args, env });
    const { code } = await bursar.exited;
    return { code, output: bursar.output() };
  };
  const configFile = (content: string) => {
    const path = join(folder, "bursar.yaml");
    writeFileSync(path, content);
    chmodSync(path, 0o600);
    return path;
  };

  it.each([
    ["--version"],
    ["dev", "--version"],
    ["serve", "--version"],
    ["migrate", "-V"],
    ["config", "--version"],
  ])("%s %s prints the version", async (...args) => {
    expect(await run(args.filter(Boolean))).toEqual({ code: 0, output: "0.1.0\n" });
  });

  it.each([["--help"], ["dev", "--help"], ["serve", "--help"], ["migrate", "-h"], ["config", "--help"]])(
    "%s %s prints the usage",
    async (...args) => {
      expect(await run(args.filter(Boolean))).toMatchObject({
        code: 0,
        output: expect.stringContaining("Usage: bursar"),
      });
    },
  );

  it.each([[["nonsense"]], [["dev", "--nonsense"]], [["config", "surplus"]]])(
    "%j is refused with 2",
    async (args) => {
      const { code, output } = await run(args);
      expect(code).toBe(2);
      expect(output).not.toContain("    at ");
    },
  );

  it("prints the source of each setting, with secrets masked", async () => {
    const { output } = await run(["config"], {
      BURSAR_CONFIG: configFile("host: 127.0.0.2\nlimits:\n  body_bytes: 2048\n"),
      DATABASE_URL: "postgres://me:hunter2@db.example:5432/bursar?password=hunter2",
      BURSAR_METRICS_TOKEN: "hunter2",
      LOG_LEVEL: "warn",
    });
    expect(output).toMatch(/^host +127\.0\.0\.2 +# file .*bursar\.yaml$/m);
    expect(output).toMatch(/^limits\.body_bytes +2048 +# file .*bursar\.yaml$/m);
    expect(output).toMatch(/^log_level +warn +# environment LOG_LEVEL$/m);
    expect(output).toMatch(/^data_dir +\.bursar +# default$/m);
    expect(output).toMatch(
      /^database_url +postgres:\/\/me:\*{8}@db\.example:5432\/bursar\?password=\*{8} +#/m,
    );
    expect(output).not.toContain("hunter2");
    expect(output).toMatch(/^assets: +# default\n +- \{ code: "USD", decimals: 2, network: "book", minimum/m);
  });

  it.each([
    [
      "an invalid port",
      { PORT: "80a" },
      'port (environment PORT) is "80a": it must be a whole number from 0 to 65535.',
    ],
    ["a port out of range", { PORT: "65536" }, 'port (environment PORT) is "65536"'],
    ["an unknown level", { LOG_LEVEL: "loud" }, "it must be one of trace, debug, info"],
    [
      "the URL of another database system",
      { DATABASE_URL: "mysql://me:hunter2@db/x" },
      'is "mysql://********@db/x": it must be a URL that begins with postgres://',
    ],
    [
      "an invalid network",
      { BURSAR_TRUSTED_PROXIES: "10.0.0.0/8,example.com" },
      "it must be addresses or networks",
    ],
    [
      "an invalid prefix length",
      { BURSAR_TRUSTED_PROXIES: "10.0.0.0/33" },
      "it must be addresses or networks",
    ],
    [
      "a missing file",
      { BURSAR_CONFIG: "/nowhere.yaml" },
      "BURSAR_CONFIG names /nowhere.yaml, which cannot be read.",
    ],
  ])("refuses %s with 2", async (_what, env, message) => {
    const { code, output } = await run(["config"], env as Record<string, string>);
    expect(code).toBe(2);
    expect(output).toContain(`bursar: `);
    expect(output).toContain(message);
    expect(output).not.toContain("hunter2");
  });

  it.each([
    ["a: [", "is not valid YAML"],
    ["- port", "the file must be a mapping"],
    ["port: [1]", "port must be a single value"],
    ["prot: 1", "sets the unknown setting prot"],
    ["limits:\n  body_bytes: 1\n", "limits.body_bytes (file"],
    ["a: &a [x]\nb: *a\n", "uses YAML aliases"],
    ["assets: USD", "bursar.yaml) must be a list of 1 to 200 entries."],
    ["assets:\n  - code: USD\n    decimals: two\n", "assets[0].decimals (file"],
  ])("refuses the file %j with 2", async (content, message) => {
    expect(await run(["config"], { BURSAR_CONFIG: configFile(content) })).toMatchObject({
      code: 2,
      output: expect.stringContaining(message),
    });
  });

  it("refuses an invalid line of the file even if the environment overrides it", async () => {
    const hidden = { PORT: "8080", BURSAR_CONFIG: configFile("port: abc") };
    expect(await run(["config"], hidden)).toMatchObject({
      code: 2,
      output: expect.stringMatching(/^bursar: port \(file .*\) is "abc": it must be a whole number/),
    });
  });

  it("reports in one sentence that the data folder cannot be used", async () => {
    const file = configFile("a file");
    const isOneSentence = (reason: string) =>
      expect.stringMatching(
        new RegExp(
          `^bursar: The data folder .* cannot be used: ${reason}\\. Choose another one with BURSAR_DATA_DIR\\.\n$`,
        ),
      );
    expect(await run(["dev"], { BURSAR_DATA_DIR: file })).toEqual({
      code: 1,
      output: isOneSentence("it is not a folder"),
    });
    expect(await run(["dev"], { BURSAR_DATA_DIR: join(file, "data") })).toEqual({
      code: 1,
      output: isOneSentence("it, or something above it, is not a folder"),
    });
    if (process.platform === "linux")
      expect(await run(["dev"], { BURSAR_DATA_DIR: "/proc/none/data" })).toEqual({
        code: 1,
        output: isOneSentence("it does not exist"),
      });
  });

  it.runIf(isRoot && canRead(checkout, nobody))(
    "reports in one sentence that the account may not write to the data folder",
    async () => {
      const { child, exited, output } = spawnBursar({
        args: ["dev"],
        env: { BURSAR_DATA_DIR: "/usr/share" },
        account: nobody,
      });
      await exited;
      expect([child.exitCode, output()]).toEqual([
        1,
        "bursar: The data folder /usr/share cannot be used: permission denied. Choose another one with BURSAR_DATA_DIR.\n",
      ]);
    },
  );

  it.runIf(process.platform === "linux")("fails with 7 if its output cannot be written", () => {
    const { status, stderr } = spawnSync("sh", ["-c", "./bursar config > /dev/full"], {
      cwd: checkout,
      encoding: "utf8",
      env: { PATH: process.env["PATH"] },
    });
    expect([status, stderr]).toEqual([
      7,
      expect.stringMatching(/^bursar: The output could not be written: ENOSPC.*\.\n$/),
    ]);
  });

  it.each([
    "packages/cli/bin/bursar.mjs token",
    "packages/server/bin/bursar.mjs dev",
    "tools/prepare.mjs",
    "tools/start.mjs",
    "bench/run.mjs",
    "tools/check.mjs",
    "tools/release/sbom.mjs",
    "tools/test-long.mjs --list",
  ])("%s reports in one sentence that Node is too old", (command) => {
    const versions = JSON.stringify({ ...process.versions, node: "18.20.8" });
    const preload = `data:text/javascript,Object.defineProperty(process,"versions",{value:${versions}})`;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--import", preload, ...command.split(" ")],
      { cwd: checkout, encoding: "utf8" },
    );
    expect([status, stdout, stderr]).toEqual([
      1,
      "",
      "bursar: Bursar needs Node 20.19 or newer; this is 18.20.8.\n",
    ]);
  });

  it("requires a master key in production", async () => {
    const env = { DATABASE_URL: "postgres://me@127.0.0.1:1/none" };
    expect(await run(["serve"], env)).toMatchObject({
      code: 2,
      output: expect.stringContaining("master_key_file (environment BURSAR_MASTER_KEY_FILE) is not set"),
    });
    const missing = await run(["serve"], { ...env, BURSAR_MASTER_KEY_FILE: "/nowhere.key" });
    expect(missing).toMatchObject({ code: 2, output: expect.stringContaining("cannot be read") });
    const wrong = await run(["serve"], { ...env, BURSAR_MASTER_KEY_FILE: configFile("c2hvcnQ=") });
    expect(wrong).toMatchObject({ code: 2, output: expect.stringContaining("is not 32 bytes") });
  });

  it("requires a public https URL in production, unless http is allowed", async () => {
    const env = {
      DATABASE_URL: "postgres://me@127.0.0.1:1/none",
      BURSAR_MASTER_KEY_FILE: "/nowhere.key",
      BURSAR_ALLOW_HTTP_PUBLIC_URL: "false",
    };
    expect(await run(["serve"], { ...env, BURSAR_PUBLIC_URL: "" })).toMatchObject({
      code: 2,
      output: expect.stringContaining("public_url (environment BURSAR_PUBLIC_URL) is not set"),
    });
    expect(await run(["serve"], { ...env, BURSAR_PUBLIC_URL: "http://pay.example" })).toMatchObject({
      code: 2,
      output: expect.stringContaining("it must begin with https://"),
    });
    const accepted = await run(["serve"], { ...env, BURSAR_PUBLIC_URL: "https://pay.example" });
    expect(accepted).toMatchObject({ code: 2, output: expect.stringContaining("cannot be read") });
  });

  it("refuses a master key that other accounts can read, as ssh does", async () => {
    const path = configFile(randomBytes(32).toString("hex"));
    chmodSync(path, 0o644);
    const env = { DATABASE_URL: "postgres://me@127.0.0.1:1/none", BURSAR_MASTER_KEY_FILE: path };
    expect(await run(["serve"], env)).toMatchObject({
      code: 2,
      output: expect.stringMatching(/The permissions 0644 of the master key file .* Run `chmod 600 .*`/),
    });
  });

  it("requires a database in production", async () => {
    expect(await run(["serve"])).toEqual({
      code: 2,
      output:
        "bursar: database_url (environment DATABASE_URL) is not set. Set it to the URL of a PostgreSQL database.\n",
    });
  });
});
