import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readId } from "@bursar/protocol";
import { decodeJwt } from "jose";
import { expect, it } from "vitest";
import { createSignerClient } from "../../src/rails/evm/signer-client.js";
import { eventually } from "../harness/eventually.js";
import { startSandboxForFile } from "../harness/service/sandbox-commands.js";

const { dataDir, bursarOf, run } = startSandboxForFile("give-up", { BURSAR_SANDBOX_CHAIN: "on" });
const network = "eip155:31337";
const transactionId = "01900000-0000-7000-8000-000000000009";

it("`wallet give-up` prints an empty transaction with a nonce that only the signer knows, and is in the audit log", async () => {
  const { output: token } = await run(["token"]);
  const bursar = bursarOf(token);
  const { id } = await bursar.wallets.create({ name: "w", purpose: "payout", network });
  const { address } = await eventually(
    () => bursar.wallets.get(id),
    ({ state }) => state === "active",
  );
  const giveUp = (nonce: string, fee: string) =>
    run(["wallet", "give-up", id, "--nonce", nonce, "--max-fee-gwei", fee, "--tip-gwei", "2"]);
  expect(await giveUp("0", "40")).toMatchObject({
    code: 1,
    output: expect.stringContaining(`has signed nothing with nonce 0 of ${address?.toLowerCase()}`),
  });
  expect(await giveUp("-1", "40")).toMatchObject({ output: expect.stringContaining("whole number") });
  expect(await giveUp("0", "forty")).toMatchObject({ output: expect.stringContaining("number of gwei") });
  // In a commit that is lost.
  const { signerSocket: socketPath } = JSON.parse(readFileSync(join(dataDir, "chain.json"), "utf8"));
  const signer = createSignerClient({ socketPath });
  const own = (address ?? "").toLowerCase();
  const [signed] = await signer.sign([
    {
      ...{
        tenantId: readId("tnt", String(decodeJwt(token.trim())["tenant_id"])) ?? "",
        transactionId,
        network,
      },
      ...{ walletId: readId("wlt", id) ?? "", address: own, nonce: 0, purpose: "payment", contract: null },
      ...{ destination: `0x${"e".repeat(40)}`, amount: 1n, gasLimit: 21_000n },
      ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
    },
  ]);
  signer.close();
  expect(signed).toHaveProperty("bytes");
  expect(await giveUp("0", "20")).toMatchObject({
    code: 1,
    output: expect.stringContaining("at least 10 %"),
  });
  const given = await giveUp("0", "40");
  expect(given).toMatchObject({ code: 0, output: expect.stringMatching(/^0x02[0-9a-f]+$/m) });
  expect(given.output).toContain(`bursar wallet adopt ${id}`);
  const { data } = await bursar.audit.list().page();
  expect(data.filter(({ action, object }) => action === "wallet.give_up" && object === id)).toHaveLength(2);
});
