import { isBursarError } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.js";
import { spawnBursar } from "../harness/service/bursar-process.js";
import { startSandboxForFile } from "../harness/service/sandbox-commands.js";

describe("`bursar recover` beside a running sandbox", () => {
  const sandbox = startSandboxForFile("recover");
  const run = (...args: string[]) => sandbox.run(args);
  const epochOf = async (token: string) =>
    (await sandbox.bursarOf(token).events.list({ limit: 1 }).page()).epoch;

  it("begins an epoch that the process notices, ends its tokens, and prints what to tell receivers, once for a key", async () => {
    const { output: token } = await run("token");
    const epoch = await epochOf(token);
    const first = await run("recover", "--key", "drill", "--lift", "500");
    expect(first.code).toBe(0);
    const [begun = ""] = /epo_[0-9a-z]{26}/.exec(first.output) ?? [];
    expect(begun).not.toBe(epoch);
    expect(first.output).toMatch(/^tnt_[0-9a-z]{26} {2}.* kept up to \d+, continues after \d+$/m);
    expect(first.output).toMatch(/^ETH-USD {2}book kept up to \d+, trades up to \d+$/m);
    await eventually(
      () => sandbox.statusOf(token),
      (status) => status === 401,
    );
    // Until the process has noticed it, a token that it issues ends like the earlier ones; while it notices, it answers nothing.
    let fresh = "";
    await eventually(
      async () => {
        fresh = (await run("token")).output;
        return await epochOf(fresh).catch((error: unknown) => {
          if (!isBursarError(error, "UNAUTHENTICATED") && !isBursarError(error, "UNAVAILABLE")) throw error;
        });
      },
      (shown) => shown === begun,
    );
    const second = await run("recover", "--key", "drill", "--lift", "500");
    expect(second.output).toContain(`This recovery was done before. Its epoch is ${begun}`);
    expect(await epochOf(fresh)).toBe(begun);
    const later = await run("recover", "--key", "another-drill", "--lift", "500");
    const [current = ""] =
      /The database is in a new epoch: (epo_[0-9a-z]{26})/.exec(later.output)?.slice(1) ?? [];
    const third = await run("recover", "--key", "drill", "--lift", "500");
    expect(third.output).toContain(
      `This recovery was done before. Its epoch is ${begun}\nThe database is in a later epoch by now: ${current}\n`,
    );
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
