import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createBursar, isBursarError } from "@bursar/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readMasterKeys } from "../../src/credentials/master-key.js";
import { sql } from "../../src/store/core/sql.js";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";
import { readPage } from "../harness/document-blocks.js";
import { eventually } from "../harness/eventually.js";
import { type BursarProcess, runBursar, spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** The blocks of the page in their order, also those inside a list. */
const blocks = [...readPage("docs/operating/key-drills.md").matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(
  (match) => match[1] ?? "",
);

describe("the key drills", () => {
  const folder = createTemporaryFolder("key-drills");
  const keyFile = join(folder, "master.key");
  let database: TestDatabase;
  let env: Record<string, string>;
  let client: { id: string; secret: string };
  let processes: { bursar: BursarProcess; url: string }[] = [];

  const start = async () => {
    const bursar = spawnBursar({ args: ["serve"], env });
    return { bursar, url: await bursar.ready() };
  };
  const stop = async ({ bursar }: { bursar: BursarProcess }) => {
    bursar.child.kill("SIGTERM");
    await bursar.exited;
  };
  /** One after the other, so that one always answers. */
  const restart = async () => {
    for (const [index, old] of processes.entries()) {
      processes[index] = await start();
      await stop(old);
    }
  };
  const shell = async (script: string) => {
    const { stdout } = await promisify(execFile)("sh", ["-ec", script], {
      env: { ...env, PATH: process.env["PATH"] },
      cwd: folder,
    });
    return stdout;
  };
  const requestToken = () =>
    createBursar({
      baseUrl: processes[0]?.url ?? "",
      credentials: { clientId: client.id, secret: client.secret },
    }).tokens.current();
  const bursarOf = (url: string, token: string) =>
    createBursar({ baseUrl: url, credentials: () => token, retriesMax: 0 });
  const statuses = (token: string) =>
    Promise.all(
      processes.map(({ url }) =>
        bursarOf(url, token)
          .clients.list()
          .page()
          .then(
            ({ lastResponse }) => lastResponse.status,
            (error: unknown) => (isBursarError(error) ? error.status : String(error)),
          ),
      ),
    );

  beforeAll(async () => {
    database = await createTestDatabase();
    writeFileSync(keyFile, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    env = { DATABASE_URL: database.url, BURSAR_MASTER_KEY_FILE: keyFile };
    // `./bursar` as it is found in a checkout.
    symlinkSync(join(root, "bursar"), join(folder, "bursar"));
    const { output } = await runBursar(["tenant", "create", "Drill"], env);
    client = { id: /cli_\w{26}/.exec(output)?.[0] ?? "", secret: /bsk_\S+/.exec(output)?.[0] ?? output };
    processes = [await start(), await start()];
  });
  afterAll(async () => {
    await Promise.all(processes.map(stop));
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  it("replace the master key while the service runs, with every token and secret still valid", async () => {
    const token = await requestToken();
    const url = processes[0]?.url ?? "";
    const { webhookEndpoints, clients } = bursarOf(url, token);
    await webhookEndpoints.create({ url: "https://receiver.example/" });
    await clients.addKey(client.id, { algorithm: "hmac-sha256" });
    const [oldKey] = readMasterKeys(keyFile).all;
    for (const block of blocks.slice(0, 2)) {
      await shell(block);
      await restart();
      expect(await statuses(token)).toEqual([200, 200]);
    }
    const newKey = readMasterKeys(keyFile).current;
    expect(newKey.id).not.toBe(oldKey?.id);
    expect(await shell(blocks[2] ?? "")).toMatch(
      new RegExp(`master key ${newKey.id}: 1 token keys, 1 keys of clients, 1 webhook endpoints`),
    );
    // Nothing is left to do, which is how an interrupted run ends too.
    expect(await shell(blocks[2] ?? "")).toContain("0 token keys, 0 keys of clients, 0 webhook endpoints");
    await shell(blocks[3] ?? "");
    expect(readFileSync(keyFile, "utf8").trim().split("\n")).toHaveLength(1);
    await restart();
    expect(await statuses(token)).toEqual([200, 200]);
    expect(await statuses(await requestToken())).toEqual([200, 200]);
    // Exits with 1 if a log is not intact.
    await shell("./bursar audit verify");
    const seals = await database.query<{ sealed: Buffer }>(sql`
      SELECT private_key AS sealed FROM token_keys UNION ALL SELECT secret FROM webhook_endpoints
      UNION ALL SELECT material FROM client_keys WHERE algorithm = 'hmac-sha256'
    `);
    expect(seals).toHaveLength(3);
    for (const { sealed } of seals) expect(sealed.subarray(1, 9).toString("hex")).toBe(newKey.id);
  });

  it("end a stolen signing key in every process, although its tokens were used there before", async () => {
    const token = await requestToken();
    expect(await statuses(token)).toEqual([200, 200]);
    expect(await shell(blocks[4] ?? "")).toMatch(/key_\w{26} is revoked.*\nkey_\w{26} signs from now on/);
    await eventually(
      () => statuses(token),
      (found) => found.every((status) => status === 401),
    );
    expect(await statuses(await requestToken())).toEqual([200, 200]);
  });

  it("replace the signing key as a routine", async () => {
    const token = await requestToken();
    expect(await shell(blocks[5] ?? "")).toMatch(/published, signs later/);
    expect(await statuses(token)).toEqual([200, 200]);
  });

  it("repair the permissions of the key file", async () => {
    expect(await shell(`${blocks[6]} 2>&1`)).toMatch(/^refused\n(key_.*\n)+$/);
  });
});
