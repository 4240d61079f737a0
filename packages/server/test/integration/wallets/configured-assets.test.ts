import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/config/load-config.js";
import { sandboxMarkets } from "../../../src/config/market-list.js";
import { ConfigError } from "../../../src/config/setting.js";
import { createTestDatabase } from "../../harness/database/test-database.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

const example = fileURLToPath(new URL("../../../../../docs/reference/bursar.example.yaml", import.meta.url));
const usd = `{ code: USD, decimals: 2, network: book, minimum: 0.01, maximum: 1000 }`;
const points = `{ code: POINTS, decimals: 0, network: book, minimum: 10, maximum: 1000 }`;

describe("configured assets", () => {
  const folder = createTemporaryFolder("assets");
  afterAll(() => rmSync(folder, { recursive: true }));
  const configure = (content: string) => {
    const path = join(folder, "bursar.yaml");
    writeFileSync(path, content);
    return { BURSAR_CONFIG: path };
  };
  const withAssets = (...assets: string[]) =>
    configure(`assets:\n${assets.map((asset) => `  - ${asset}\n`).join("")}`);

  it("replace the default assets, and have their own limits", async () => {
    const service = await startTestService(withAssets(usd, points));
    try {
      const api = transactionsOf(service, await service.token(await service.createTenant("1000")));
      const { data } = (await api.send("GET", "/v1/assets")).body as unknown as { data: { code: string }[] };
      expect(data.map(({ code }) => code)).toEqual(["USD", "POINTS"]);
      const codeOf = async (asset: string, amount: string) =>
        (await api.create({ reference: "r", asset, amount })).body.error?.code;
      expect(await codeOf("ETH", "1")).toBe("ASSET_UNKNOWN");
      expect(await codeOf("POINTS", "9")).toBe("AMOUNT_OUT_OF_RANGE");
      expect(await codeOf("POINTS", "10.5")).toBe("AMOUNT_PRECISION_EXCEEDED");
      const { body } = await api.create({ reference: "r", asset: "POINTS", amount: "10" });
      expect(await api.settled(body.id)).toMatchObject({ amount: "10", state: "failed" });
    } finally {
      await service.stop();
    }
  });

  it("must include every asset that the database stores", async () => {
    const database = await createTestDatabase();
    const shared = { database, masterKey: new Uint8Array(32), publicUrl: undefined };
    try {
      const before = await startTestService(withAssets(usd, points), shared);
      const api = transactionsOf(before, await before.token(await before.createTenant("1000")));
      await api.settled((await api.create({ reference: "r", asset: "POINTS", amount: "10" })).body.id);
      await before.stop();
      const start = startTestService(withAssets(usd), shared);
      await expect(start).rejects.toBeInstanceOf(ConfigError);
      await expect(start).rejects.toThrow("The database stores the asset POINTS, which is not in `assets`");
    } finally {
      await database.drop();
    }
  });

  it("must keep their decimals once an amount is stored", async () => {
    const database = await createTestDatabase();
    const shared = { database, masterKey: new Uint8Array(32), publicUrl: undefined };
    const precisePoints = points.replace("decimals: 0", "decimals: 3");
    try {
      await (await startTestService(withAssets(usd, precisePoints), shared)).stop();
      // No amount of it is stored yet, so its decimals can be corrected.
      const before = await startTestService(withAssets(usd, points), shared);
      const tenant = await before.createTenant("1000");
      await before.fund(tenant, "POINTS", "10");
      await before.stop();
      for (const changed of [withAssets(usd, precisePoints), withAssets(usd.replace("2", "4"), points)]) {
        const start = startTestService(changed, shared);
        await expect(start).rejects.toBeInstanceOf(ConfigError);
        await expect(start).rejects.toThrow(/(POINTS is stored with 0|USD is stored with 2) decimals/);
      }
      const again = await startTestService(withAssets(usd, points), shared);
      const api = transactionsOf(again, await again.token(tenant));
      expect((await api.balances())["primary"]).toMatchObject({ available: "1000" });
      await again.stop();
    } finally {
      await database.drop();
    }
  });

  it("may get other limits: what was accepted before is answered as before", async () => {
    const database = await createTestDatabase();
    const shared = { database, masterKey: new Uint8Array(32), publicUrl: "http://bursar.test" };
    try {
      const before = await startTestService(withAssets(usd), shared);
      const tenant = await before.createTenant("1000");
      const bank = await before.createIndependentClient(tenant, ["deposits:write"], "bank");
      const wallets = transactionsOf(before, await before.token(tenant));
      const payment = { reference: "r", asset: "USD", amount: "900" };
      const deposit = { ...payment, destination: { wallet_id: await primaryOf(wallets) } };
      const send = async (service: TestService, key: string, amount = "900") => {
        const post = (path: string, token: string, body: object) =>
          transactionsOf(service, token).send("POST", path, { ...body, amount }, { "idempotency-key": key });
        return [
          await post("/v1/transactions", await service.token(tenant), payment),
          await post("/v1/deposits", await service.token(bank), deposit),
        ].map(({ status, body }) => [status, body.error?.code ?? body.id]);
      };
      const first = await send(before, "first");
      expect(first.map(([status]) => status)).toEqual([202, 201]);
      await before.stop();
      const after = await startTestService(withAssets(usd.replace("1000", "500")), shared);
      expect(await send(after, "first")).toEqual(first);
      expect(await send(after, "first", "901")).toEqual(Array(2).fill([422, "IDEMPOTENCY_KEY_REUSED"]));
      expect(await send(after, "second")).toEqual(Array(2).fill([422, "AMOUNT_OUT_OF_RANGE"]));
      await after.stop();
    } finally {
      await database.drop();
    }
  });

  it("must be on a supported network", async () => {
    const start = startTestService(withAssets(usd, points.replace("book", "moon")));
    await expect(start).rejects.toBeInstanceOf(ConfigError);
    await expect(start).rejects.toThrow('assets[1].network of POINTS is "moon": it must be one of book.');
  });

  it("are in the example file, which has the defaults", () => {
    const written = readFileSync(example, "utf8");
    expect(loadConfig(configure(written)).values).toEqual(loadConfig({}).values);
    // Uncomments every setting. `# ` with one space is a comment, and settings without a default are left out.
    const sections = new Set(Object.keys(loadConfig({}).values).map((name) => `${name.split(".")[0]}:`));
    const isValueLeftOut = (text: string) =>
      /^ *\w+:$/.test(text) && !(sections.has(text) && new RegExp(`^#${text}\n+( |#  )`, "m").test(written));
    const inForce = written.replace(/^#(?! \S)(.*)$/gm, (line, text: string) =>
      isValueLeftOut(text) ? line : text,
    );
    const { values, sources } = loadConfig(configure(inForce));
    // There are no markets, networks and roles of a provider by default; the file shows examples.
    expect({ ...values, markets: [], networks: [], oidc_roles: [] }).toEqual(loadConfig({}).values);
    expect(values.oidc_roles).toMatchObject([{ role: "operator" }]);
    expect(values.networks).toMatchObject([{ network: "eip155:1" }]);
    expect(values.markets).toEqual(sandboxMarkets);
    expect(sources.assets).toContain("file");
    expect(sources["limits.json_depth"]).toContain("file");
  });
});

async function primaryOf(api: ReturnType<typeof transactionsOf>): Promise<string> {
  const { data } = (await api.send("GET", "/v1/wallets")).body as unknown as {
    data: { id: string; role: string | null }[];
  };
  return data.find(({ role }) => role === "primary")?.id ?? "";
}
