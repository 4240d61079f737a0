import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBursar } from "@bursar/client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";
import { eventually } from "../harness/eventually.js";
import { type BursarProcess, spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

/** Replaces the clock of a process; Debian has it as `libfaketime`. */
const library =
  readdirSync("/usr/lib")
    .map((folder) => join("/usr/lib", folder, "faketime/libfaketimeMT.so.1"))
    .find((path) => existsSync(path)) ?? "";
if (library === "") process.stderr.write("skipped: wrong clocks, because libfaketime is not installed\n");

describe.skipIf(library === "")("processes on machines whose clocks differ", () => {
  let database: TestDatabase;
  const started: BursarProcess[] = [];
  const folder = createTemporaryFolder("clocks");
  const masterKeyFile = join(folder, "master.key");
  const clockFile = join(folder, "clock");
  writeFileSync(masterKeyFile, randomBytes(32).toString("hex"), { mode: 0o600 });
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    for (const { child, exited } of started.splice(0)) {
      child.kill("SIGKILL");
      await exited;
    }
  });
  afterAll(async () => {
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  /** With a clock, it runs on a machine whose clock is as far ahead as the file says, whenever it reads it. */
  const run = (args: string[], { clock, ...more }: Record<string, string> = {}) => {
    if (clock !== undefined) writeFileSync(clockFile, clock);
    const faketime = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: clockFile,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
    const bursar = spawnBursar({
      args,
      env: {
        DATABASE_URL: database.url,
        BURSAR_MASTER_KEY_FILE: masterKeyFile,
        ...(clock === undefined ? {} : faketime),
        ...more,
      },
    });
    started.push(bursar);
    return bursar;
  };
  const outputOf = async (bursar: BursarProcess) => {
    await bursar.exited;
    return bursar.output();
  };
  const fieldOf = (output: string, name: string) =>
    new RegExp(`^${name} +(\\S+)$`, "m").exec(output)?.[1] ?? "";
  const isNow = (time: string) => Math.abs(Date.parse(time) - Date.now()) < 120_000;

  it("accept each other's tokens and date what they write alike, after one was set 30 days ahead", async () => {
    const created = await outputOf(run(["tenant", "create", "clocks"], { clock: "+30d" }));
    expect(created).toMatch(/Warning: this machine's clock is 25920\d\d\.\d s ahead of the database's/);
    const listed = await outputOf(run(["tenant", "list"]));
    expect(isNow(listed.match(/(20\d\d-\S+).* clocks$/m)?.[1] ?? "")).toBe(true);

    const right = run(["serve"]);
    const wrong = run(["serve"], { clock: "+0" });
    const urls = [await right.ready(), await wrong.ready()];
    writeFileSync(clockFile, "+30d");
    const secret = { BURSAR_CLIENT_SECRET: fieldOf(created, "client_secret") };
    const tokens = await Promise.all(
      urls.map(async (url) => {
        const asked = ["token", "--url", url, "--client-id", fieldOf(created, "client_id")];
        return (await outputOf(run(asked, secret))).trim();
      }),
    );
    for (const url of urls)
      for (const token of tokens) {
        const { transactions } = createBursar({ baseUrl: url, credentials: () => token });
        const created = await transactions.create({ reference: "clocks", asset: "USD", amount: "1" });
        expect(isNow(created.created_at)).toBe(true);
      }
    // It notices within a minute.
    const [, wrongUrl = ""] = urls;
    const status = async (url: string) => (await fetch(`${url}/readyz`)).status;
    await eventually(
      () => status(wrongUrl),
      (found) => found === 503,
    );
    expect(await status(urls[0] ?? "")).toBe(200);
    expect(wrong.output()).toMatch(/Synchronise the clocks: this machine's clock is 25920\d\d\.\d s ahead/);
    writeFileSync(clockFile, "+0");
    await eventually(
      () => status(wrongUrl),
      (found) => found === 200,
    );
  });

  it("do not start if the clock differs by 30 seconds from the database's", async () => {
    const refused = run(["serve"], { clock: "-31" });
    expect((await refused.exited).code).toBe(1);
    expect(refused.output()).toMatch(
      /bursar: The clocks differ: this machine's clock is 3[01]\.\d s behind the database's\. Synchronise/,
    );
  });
});
