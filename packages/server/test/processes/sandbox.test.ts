import { chownSync, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBursar } from "@bursar/client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { canRead } from "../../src/embedded/postgres-account.js";
import { linksOf } from "../harness/console/test-sandbox.js";
import { eventually } from "../harness/eventually.js";
import { consoleOriginOf, registerWith } from "../harness/people/log-in.js";
import { type BursarProcess, spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65_534, gid: 65_534 };
/** A checkout under a private home folder cannot be read by other users. */
const checkout = fileURLToPath(new URL("../../../../", import.meta.url)).replace(/\/$/, "");

describe("the sandbox", () => {
  /** All tests share one folder, because creating a database takes longer than starting it. */
  const folder = createTemporaryFolder("sandbox");
  const dataDir = join(folder, "data");
  const started: BursarProcess[] = [];
  const dev = (options: { account?: { uid: number; gid: number }; env?: Record<string, string> } = {}) => {
    const bursar = spawnBursar({
      args: ["dev"],
      ...options,
      env: { BURSAR_DATA_DIR: dataDir, ...options.env },
    });
    started.push(bursar);
    return bursar;
  };
  const postmasterPid = () =>
    Number(readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
  const readiness = async (url: string) => (await fetch(`${url}/readyz`)).status;
  let linkOfGrace = "";
  const killAll = async () => {
    for (const { child, exited } of started.splice(0)) {
      child.kill("SIGKILL");
      await exited;
    }
  };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  describe("while it runs", () => {
    let bursar: BursarProcess;
    let url: string;
    beforeAll(async () => {
      bursar = dev();
      url = await bursar.ready();
    });
    afterAll(killAll);

    it("has a two-sided book that a newcomer can trade with", async () => {
      const token = spawnBursar({ args: ["token"], env: { BURSAR_DATA_DIR: dataDir } });
      await token.exited;
      const accessToken = token.output().trim();
      const { orderbook, orders } = createBursar({ baseUrl: url, credentials: () => accessToken });
      const books = async (market: string) =>
        await eventually(
          () => orderbook.get({ market }),
          ({ bids, asks }) => bids.length > 0 && asks.length > 0,
        );
      const { bids, asks, stale } = await books("ETH-USD");
      expect(stale).toBe(false);
      expect(Number(bids[0]?.[0])).toBeLessThan(Number(asks[0]?.[0]));
      expect(Number(bids[0]?.[0])).toBeGreaterThan(2900);
      await books("USDC-USD");
      const { id } = await orders.place(
        { market: "ETH-USD", side: "buy", type: "market", quote_size: "100" },
        { idempotencyKey: "first" },
      );
      const order = await eventually(
        () => orders.get(id),
        ({ state }) => state !== "pending",
      );
      expect(order).toMatchObject({ state: "filled", filled: "0.03" });
      const audit = spawnBursar({ args: ["audit", "ledger"], env: { BURSAR_DATA_DIR: dataDir } });
      expect([(await audit.exited).code, audit.output()]).toEqual([
        0,
        expect.not.stringContaining("VIOLATED"),
      ]);
    });

    it("refuses a second instance on the same folder, also on the same port, and says where the first one is", async () => {
      const second = dev({ env: { PORT: new URL(url).port } });
      expect(await second.exited).toEqual({ code: 1, signal: null });
      expect(second.output()).toBe(
        `bursar: The sandbox in ${dataDir} is already running at ${url} (process ${bursar.child.pid}). Use it or stop it, or start another one with other values of BURSAR_DATA_DIR and PORT.\n`,
      );
      expect(await readiness(url)).toBe(200);
    });

    it("refuses a port that is in use, with one sentence", async () => {
      const { port } = new URL(url);
      const second = dev({ env: { PORT: port, BURSAR_DATA_DIR: `${dataDir}-2` } });
      expect(await second.exited).toEqual({ code: 1, signal: null });
      expect(second.output()).toBe(
        `bursar: Port ${port} on 127.0.0.1 is already in use, by another program or by a Bursar that is running. Stop it, or choose another port with PORT.\n`,
      );
    });

    it("restarts its database after kill -9, and logs both events", async () => {
      const postgres = postmasterPid();
      process.kill(postgres, "SIGKILL");
      await bursar.waitFor(/has ended unexpectedly; restarting it/);
      await bursar.waitFor(/is running again/);
      await eventually(
        () => readiness(url),
        (status) => status === 200,
      );
      expect(postmasterPid()).not.toBe(postgres);
    });

    it("shows a banner, serves, keeps its secrets private and stops on Ctrl-C with its database", async () => {
      await bursar.waitFor(/Ctrl-C stops the service/);
      for (const text of [
        `API    ${url}`,
        `Docs   ${url}/docs`,
        "Data   ",
        "curl -s",
        `$(BURSAR_DATA_DIR='${dataDir}' ./bursar token)`,
      ])
        expect(bursar.output()).toContain(text);
      const links = linksOf(bursar.output());
      expect([...links.keys()]).toEqual(["Ada", "Grace", "Alan"]);
      const ada = links.get("Ada") ?? "";
      expect(ada).toMatch(new RegExp(`^${consoleOriginOf({ url })}/console#invitation=`));
      expect((await registerWith({ url }, ada)).status).toBe(201);
      linkOfGrace = links.get("Grace") ?? "";
      expect(await readiness(url)).toBe(200);
      expect(statSync(join(dataDir, "postgres.password")).mode & 0o777).toBe(0o600);
      const postgres = postmasterPid();
      bursar.child.kill("SIGINT");
      expect(await bursar.exited).toEqual({ code: 0, signal: null });
      expect(isAlive(postgres)).toBe(false);
      expect(existsSync(join(dataDir, "instance.lock"))).toBe(false);
    });
  });

  describe("after a crash", () => {
    afterEach(killAll);

    it("leaves no database behind after kill -9, and starts again", async () => {
      const first = dev();
      await first.ready();
      const postgres = postmasterPid();
      first.child.kill("SIGKILL");
      await first.exited;
      await eventually(
        () => isAlive(postgres),
        (alive) => !alive,
      );
      const again = dev();
      const url = await again.ready();
      expect(await readiness(url)).toBe(200);
      // Ada has a passkey. The others get new links, with which the earlier ones end.
      await again.waitFor(/Ctrl-C stops the service/);
      expect([...linksOf(again.output()).keys()]).toEqual(["Grace", "Alan"]);
      expect((await registerWith({ url }, linkOfGrace)).code).toBe("INVITATION_INVALID");
    });

    it.runIf(process.platform === "linux")(
      "takes over a database whose supervisor was killed too",
      async () => {
        const first = dev();
        await first.ready();
        const postgres = postmasterPid();
        const keeper = Number(readFileSync(`/proc/${postgres}/stat`, "utf8").split(") ")[1]?.split(" ")[1]);
        const children = readFileSync(`/proc/${keeper}/task/${keeper}/children`, "utf8")
          .trim()
          .split(" ")
          .map(Number);
        for (const pid of [keeper, ...children.filter((child) => child !== postgres)])
          process.kill(pid, "SIGKILL");
        first.child.kill("SIGKILL");
        await first.exited;
        expect(isAlive(postgres)).toBe(true);
        expect(await readiness(await dev().ready())).toBe(200);
        expect(isAlive(postgres)).toBe(false);
      },
    );
  });

  it.runIf(isRoot && canRead(checkout, nobody))("runs as an ordinary user", async () => {
    const own = createTemporaryFolder("ordinary");
    const env = { BURSAR_DATA_DIR: join(own, "data") };
    chownSync(own, nobody.uid, nobody.gid);
    const bursar = dev({ account: nobody, env });
    expect(await readiness(await bursar.ready())).toBe(200);
    expect(statSync(join(own, "data", "postgres")).uid).toBe(nobody.uid);
    bursar.child.kill("SIGTERM");
    expect(await bursar.exited).toEqual({ code: 0, signal: null });
    // Root continues with the data of the ordinary user, as that user.
    expect(await readiness(await dev({ env }).ready())).toBe(200);
    await killAll();
    rmSync(own, { recursive: true, force: true });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie process is not alive.
    return process.platform !== "linux" || !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
