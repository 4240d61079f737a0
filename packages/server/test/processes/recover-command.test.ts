import { describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.js";
import { spawnBursar } from "../harness/service/bursar-process.js";
import { startSandboxForFile } from "../harness/service/sandbox-commands.js";

describe("`bursar recover` beside a running sandbox", () => {
  const sandbox = startSandboxForFile("recover");
  const run = (...args: string[]) => sandbox.run(args);
  const readEvents = (token: string) =>
    fetch(`${sandbox.url()}/v1/events?limit=1`, { headers: { authorization: `Bearer ${token.trim()}` } });

  it("begins an epoch that the process notices, ends its tokens, and prints what to tell receivers, once for a key", async () => {
    const { output: token } = await run("token");
    const { epoch } = (await (await readEvents(token)).json()) as { epoch: string };
    const first = await run("recover", "--key", "drill", "--lift", "500");
    expect(first.code).toBe(0);
    const [begun = ""] = /epo_[0-9a-z]{26}/.exec(first.output) ?? [];
    expect(begun).not.toBe(epoch);
    expect(first.output).toMatch(/^tnt_[0-9a-z]{26} {2}.* kept up to \d+, continues after \d+$/m);
    expect(first.output).toMatch(/^ETH-USD {2}book kept up to \d+, trades up to \d+$/m);
    await eventually(
      async () => (await readEvents(token)).status,
      (status) => status === 401,
    );
    // Until the process has noticed it, a token that it issues ends like the earlier ones.
    let fresh = "";
    await eventually(
      async () => {
        fresh = (await run("token")).output;
        return ((await (await readEvents(fresh)).json()) as { epoch?: string }).epoch;
      },
      (shown) => shown === begun,
    );
    const second = await run("recover", "--key", "drill", "--lift", "500");
    expect(second.output).toContain(`This recovery was done before. Its epoch is ${begun}`);
    expect((await readEvents(fresh)).status).toBe(200);
    expect((await run("audit", "ledger")).code).toBe(0);
    // As with `| head`.
    const unread = spawnBursar({
      args: ["recover", "--key", "drill"],
      env: { BURSAR_DATA_DIR: sandbox.dataDir },
    });
    unread.child.stdout?.destroy();
    expect([await unread.exited, unread.output()]).toEqual([{ code: 0, signal: null }, ""]);
    expect(await run("recover", "--lift", "many")).toMatchObject({ code: 2 });
  });
});
