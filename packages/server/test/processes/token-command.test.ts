import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BursarProcess, runBursar, spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

describe("`bursar token` beside a running sandbox", () => {
  const dataDir = join(createTemporaryFolder("token"), "data");
  let sandbox: BursarProcess;
  let url: string;
  beforeAll(async () => {
    sandbox = spawnBursar({ args: ["dev"], env: { BURSAR_DATA_DIR: dataDir } });
    url = await sandbox.ready();
    await sandbox.waitFor(/Ctrl-C stops/);
  });
  afterAll(async () => {
    sandbox.child.kill("SIGTERM");
    await sandbox.exited;
    rmSync(join(dataDir, ".."), { recursive: true });
  });

  const run = (args: string[], env: Record<string, string> = {}) =>
    runBursar(args, { BURSAR_DATA_DIR: dataDir, ...env });

  it("reports an error in one sentence", async () => {
    expect(await run(["token", "--client", "nobody"])).toEqual({
      code: 1,
      output:
        "bursar: The sandbox has no client nobody. Its clients are sandbox, other, market-maker, limited, approver.\n",
    });
    expect((await run(["token", "--scope", "everything"])).output).toMatch(
      /^bursar: .* refused: invalid_scope/,
    );
    expect((await run(["token"], { BURSAR_DATA_DIR: "/nowhere" })).output).toMatch(
      /^bursar: There are no sandbox credentials/,
    );
    expect(
      (await run(["token", "--url", "http://127.0.0.1:9", "--client-id", "x"], { BURSAR_CLIENT_SECRET: "y" }))
        .output,
    ).toMatch(/^bursar: http:\/\/127\.0\.0\.1:9 does not answer/);
    expect(
      (await run(["token", "--url", `${url}/docs`, "--client-id", "x"], { BURSAR_CLIENT_SECRET: "y" }))
        .output,
    ).toMatch(/^bursar: http:.*\/docs refused: 404\n$/);
    expect(
      await run(["keys", "list"], { DATABASE_URL: "postgres://nobody@127.0.0.1:9/nowhere" }),
    ).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^bursar: The database does not answer\. .*\n$/),
    });
    expect((await run(["token", "--url", url, "--client-id", "x"])).output).toMatch(
      /^bursar: Set BURSAR_CLIENT_SECRET/,
    );
  });
});
