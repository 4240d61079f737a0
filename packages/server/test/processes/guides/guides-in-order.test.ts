import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../src/embedded/free-port.js";
import { blocksOf } from "../../harness/document-blocks.js";
import { eventually } from "../../harness/eventually.js";
import { type BursarProcess, spawnBursar } from "../../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";
import { openTerminal, type Terminal } from "../../harness/terminal.js";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));

describe.runIf(hasCurl())("every command of these guides, in order and in one terminal", () => {
  const folder = createTemporaryFolder("guides");
  const dataDir = join(folder, "data");
  let sandbox: BursarProcess;
  let url: string;
  let terminal: Terminal;
  beforeAll(async () => {
    sandbox = spawnBursar({ args: ["dev"], env: { BURSAR_DATA_DIR: dataDir } });
    url = await sandbox.ready();
    symlinkSync(join(root, "bursar"), join(folder, "bursar"));
  });
  afterAll(async () => {
    sandbox.child.kill("SIGTERM");
    await sandbox.exited;
    rmSync(folder, { recursive: true });
  });
  const open = (variables: Record<string, string> = {}) => {
    terminal = openTerminal(folder, { PATH: process.env["PATH"], BURSAR_DATA_DIR: dataDir, ...variables });
  };
  const type = (block: string | undefined) =>
    terminal.type((block ?? "false").replaceAll("http://127.0.0.1:8080", url));
  const placeOrder = async () => {
    const order = blocksOf("docs/guides/order-book.md", "sh").find((block) => block.includes("/v1/orders"));
    return await type(order);
  };

  it("a policy, an approval, and the policy of the sandbox again, so that orders are accepted", async () => {
    open();
    const [keep, read, write, operate, evaluate, list, appoint, set, approve, restore, ...more] = blocksOf(
      "docs/guides/policy.md",
      "sh",
    );
    expect(more).toEqual([]);
    await type(keep);
    expect(await type(read)).toMatch(/HTTP\/1\.1 200 .*etag: "1".*"version":1/s);
    expect(await type(write)).toMatch(/HTTP\/1\.1 200 .*etag: "\d"/s);
    expect(await type(operate)).toMatch(/has policy version \d+\n.* has policy version \d+\n$/s);
    expect(await type(evaluate)).toContain('"rule":"own-wallets"');
    expect(await placeOrder()).toContain('"POLICY_REJECTED"');
    expect(await type(list)).toMatch(/HTTP\/1\.1 201 .*"next_cursor":null/s);
    expect(await type(appoint)).toMatch(/^client_id +cli_\w{26}\nclient_secret +bsk_\S+\n$/);
    expect(await type(set)).toContain("has policy version");
    // The page says that this takes up to 5 seconds.
    const asked = evaluate?.replace("2500.00", "12500.00");
    await eventually(
      () => type(asked),
      (answer) => answer.includes('"rule":"large-payouts"'),
    );
    // It waits for approval some milliseconds after the response; until then there is no digest.
    const [create = "", ...rest] = (approve ?? "").split(/^(?=OFFICER=)/m);
    await type(create);
    await eventually(
      () => type('curl -s "http://127.0.0.1:8080/v1/transactions/$ID" -H "Authorization: Bearer $TOKEN"'),
      (answer) => answer.includes('"state":"awaiting_approval"'),
    );
    expect(await type(rest.join(""))).toMatch(/"state":"awaiting_approval".*HTTP\/1\.1 202 /s);
    expect(await type(restore)).toContain("has policy version");
    await eventually(placeOrder, (answer) => answer.includes('"object":"order"'));
    terminal.close();
  });

  it("an officer that rotates its secret, and a change request that disables it", async () => {
    open();
    const [create, rotate, request, approve, optOut, ...more] = blocksOf("docs/guides/authority.md", "sh");
    expect(more).toEqual([]);
    await type(create);
    expect(await type(rotate)).toMatch(/"secret":"bsk_/);
    expect(await type(request)).toMatch(/"kind":"client\.change".*"state":"pending"/s);
    expect(await type(approve)).toMatch(/"state":"applied"/);
    expect(await type(optOut)).toContain("has single_administrator on");
    terminal.close();
  });

  it("a webhook endpoint, its receiver, a test, a rotation and a replay", async () => {
    const page = "docs/guides/receiving-webhooks.md";
    const port = String(await freePort());
    open({ PORT: port });
    writeFileSync(join(folder, "receiver.mjs"), blocksOf(page, "js")[0] ?? "");
    const [, create, receive, use, ...more] = blocksOf(page, "sh");
    expect(more).toEqual([]);
    expect(await type(create?.replace(":3000/", `:${port}/`))).toMatch(/^whsec_\S+\n$/);
    await type(receive);
    await eventually(terminal.output, (text) => text.includes("listening"));
    expect(await type(use)).toMatch(/"verified":true.*"status":204.*"secret":"whsec_.*"resent":\d+/s);
    await eventually(terminal.output, (text) => /tx_\w{26} is completed/.test(text));
    terminal.close();
  });
});

function hasCurl(): boolean {
  try {
    execFileSync("curl", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
