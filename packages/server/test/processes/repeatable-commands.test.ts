import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../src/store/core/sql.js";
import { createLostCommitProxy, type LostCommitProxy } from "../harness/database/lost-commit-proxy.js";
import { runBursar } from "../harness/service/bursar-process.js";
import { startTestService, type TestService } from "../harness/service/test-service.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

describe("a command of the operator whose COMMIT gets no answer", () => {
  const folder = createTemporaryFolder("repeatable");
  let service: TestService;
  let proxy: LostCommitProxy;
  let env: Record<string, string>;
  beforeAll(async () => {
    service = await startTestService();
    proxy = await createLostCommitProxy(service.database.url);
    const keyFile = join(folder, "master.key");
    writeFileSync(keyFile, Buffer.from(service.masterKey).toString("base64"), { mode: 0o600 });
    env = { DATABASE_URL: proxy.url, BURSAR_MASTER_KEY_FILE: keyFile };
  });
  afterAll(async () => {
    await proxy.close();
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  const run = (args: string[]) => runBursar(args, env);
  const losing = (args: string[], executed: boolean) => {
    proxy.loseNext("operator_requests", executed);
    return run(args);
  };
  const fieldOf = (output: string, name: string) =>
    new RegExp(`^${name} +(\\S+)$`, "m").exec(output)?.[1] ?? "";
  const newKey = () => randomBytes(8).toString("hex");
  async function createWallet() {
    const owner = await service.createTenant("0.01");
    const token = await service.token(owner);
    const list = (await (await service.call("GET", "/v1/wallets", token)).json()) as {
      data: { id: string; role: string }[];
    };
    const id = list.data.find(({ role }) => role === "primary")?.id ?? "";
    const balance = async () => {
      const wallet = (await (await service.call("GET", `/v1/wallets/${id}`, token)).json()) as {
        balances: { asset: string; available: string }[];
      };
      return wallet.balances.find(({ asset }) => asset === "USD")?.available;
    };
    return { id, balance, token };
  }

  it.each([
    ["was committed", true],
    ["was not committed", false],
  ])(
    "`fund` reports an unknown outcome, and repeated with its key it funds once, if it %s",
    async (_, executed) => {
      const { id, balance, token } = await createWallet();
      const first = await losing(["fund", id, "USD", "12.50", "--reference", "statement 7"], executed);
      expect(first.code).toBe(3);
      const [, key = ""] =
        /^If the outcome is unknown, repeat the command with --key (\S+)$/m.exec(first.output) ?? [];
      expect(first.output).toContain(
        `bursar: The outcome is unknown: the connection to the database was lost during the commit. Repeat the command with --key ${key}; it is carried out at most once.\n`,
      );
      expect(await balance()).toBe(executed ? "12.51" : "0.01");
      for (const amount of ["12.50", "12.5"])
        expect(await run(["fund", id, "USD", amount, "--reference", "statement 7", "--key", key])).toEqual({
          code: 0,
          output: `${id} has received 12.5 USD\n`,
        });
      expect(await balance()).toBe("12.51");
      const audit = (await (await service.call("GET", "/v1/audit?limit=20", token)).json()) as {
        data: { action: string; request_id: string | null }[];
      };
      expect(audit.data.filter(({ action }) => action === "wallet.fund")).toMatchObject([
        { request_id: key },
      ]);
    },
  );

  it("`fund` refuses a key that was used with another wallet, amount, asset or reference", async () => {
    const [one, other] = [await createWallet(), await createWallet()];
    const key = newKey();
    expect((await run(["fund", one.id, "USD", "5", "--key", key])).code).toBe(0);
    for (const args of [
      ["fund", other.id, "USD", "5"],
      ["fund", one.id, "USD", "6"],
      ["fund", one.id, "ETH", "5"],
      ["fund", one.id, "USD", "5", "--reference", "another"],
    ])
      expect(await run([...args, "--key", key])).toEqual({
        code: 1,
        output: `bursar: The key ${key} was used for a command with other arguments. Repeat that command exactly, or use another key.\n`,
      });
    expect([await one.balance(), await other.balance()]).toEqual(["5.01", "0.01"]);
  });

  it.each([
    ["was committed", true],
    ["was not committed", false],
  ])(
    "`tenant create` reports an unknown outcome, and repeated it creates one tenant, if it %s",
    async (_, executed) => {
      const key = newKey();
      const name = `tenant ${key}`;
      const args = ["tenant", "create", name, "--key", key];
      const first = await losing(args, executed);
      expect(first).toEqual({ code: 3, output: expect.stringMatching(/^bursar: The outcome is unknown: /) });
      const again = await run(args);
      expect(await run(args)).toEqual(again);
      expect(again.code).toBe(0);
      const credentials = {
        clientId: fieldOf(again.output, "client_id"),
        secret: fieldOf(again.output, "client_secret"),
      };
      const token = await service.token(credentials);
      expect((await service.call("GET", "/v1/wallets", token)).status).toBe(200);
      const listed = (await run(["tenant", "list"])).output;
      expect(listed.split("\n").filter((line) => line.endsWith(name))).toHaveLength(1);
      expect(await run(["tenant", "create", "another", "--key", key])).toMatchObject({
        code: 1,
        output: expect.stringContaining("was used for a command with other arguments"),
      });
    },
  );

  it("the secret of a tenant's first client is not shown again after a day", async () => {
    const key = newKey();
    const args = ["tenant", "create", "old", "--key", key];
    const first = await run(args);
    await service.database.query(sql`
      UPDATE operator_requests SET created_at = created_at - interval '1 day' WHERE idempotency_key = ${key}
    `);
    const clientId = fieldOf(first.output, "client_id");
    expect((await run(args)).output).toBe(
      `tenant_id      ${fieldOf(first.output, "tenant_id")}\nclient_id      ${clientId}\nThe secret is not shown any more. \`bursar client reset ${clientId}\` replaces it.\n`,
    );
  });

  it("commands with the same key at the same time do it once", async () => {
    const { id, balance } = await createWallet();
    const key = newKey();
    const results = await Promise.all(
      Array.from({ length: 4 }, () => run(["fund", id, "USD", "3", "--key", key])),
    );
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(await balance()).toBe("3.01");
  });
});
