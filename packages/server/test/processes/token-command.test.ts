import { describe, expect, it } from "vitest";
import { startSandboxForFile } from "../harness/service/sandbox-commands.js";

describe("`bursar token` beside a running sandbox", () => {
  const { url, run } = startSandboxForFile("token");

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
      (await run(["token", "--url", `${url()}/docs`, "--client-id", "x"], { BURSAR_CLIENT_SECRET: "y" }))
        .output,
    ).toMatch(/^bursar: http:.*\/docs refused: 404\n$/);
    expect(
      await run(["keys", "list"], { DATABASE_URL: "postgres://nobody@127.0.0.1:9/nowhere" }),
    ).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^bursar: The database does not answer\. .*\n$/),
    });
    expect((await run(["token", "--url", url(), "--client-id", "x"])).output).toMatch(
      /^bursar: Set BURSAR_CLIENT_SECRET/,
    );
  });
});
