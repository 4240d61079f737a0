import { expect, it } from "vitest";
import { checkTable } from "../src/checks/table.js";
import { createKit } from "../src/engine/kit.js";
import { runChecks } from "../src/engine/run-checks.js";
import { createSession } from "../src/engine/session.js";
import { readTarget } from "../src/target/read-target.js";
import { startReceiver } from "../src/webhooks/receiver.js";
import { otherSecret, otherTokens, startOtherServer } from "./servers/other/other-server.js";

/** The whole target file, as an engineer who runs the kit against something else would write it. */
const targetFile = `
token_env: OTHER_TOKEN
revoked_token_env: OTHER_REVOKED
transaction: { asset: POINTS, amount: "3" }
refused_by_policy: { purpose: forbidden }
wallet: { body: { label: "{run}" } }
accepted_id: header.location
final_states: [DONE]
webhooks:
  register: { method: PUT, path: "/hooks/{run}", body: { target: "{url}" } }
  id: body.name
  remove: { method: POST, path: "/hooks/{id}/off" }
  secret_env: OTHER_SECRET
  signature:
    scheme: hmac
    algorithm: sha512
    header: X-Other-Signature
    prefix: v9=
    content: "{header:X-Other-Stamp}|{body}"
timing: { poll_ms: 20, quiet_ms: 300, key_ms: 100, slow_ms: 3000, result_ms: 20000 }
`;

const mayBeMissing = [
  "shown.amount.string",
  "shown.amount.equal",
  "shown.amount.exact",
  "shown.reference",
  "shown.asset",
  "key.reused.unchanged",
  "tx.get.own",
  "policy.nothing-created",
];

it("a correct server that differs from Bursar in everything that is open passes", async () => {
  const server = await startOtherServer();
  const receiver = await startReceiver({ host: "127.0.0.1", port: 0 });
  try {
    const environment = {
      OTHER_TOKEN: otherTokens.own,
      OTHER_REVOKED: otherTokens.revoked,
      OTHER_SECRET: otherSecret,
    };
    const target = readTarget(targetFile, { baseUrl: server.url }, environment);
    const session = createSession({ target, token: otherTokens.own, receiver });
    const all = await runChecks(session, { checks: checkTable, isSlow: true });
    const results = all.filter(({ check }) => check.level === "contract");
    const further = all.filter(({ check }) => check.level !== "contract");
    expect(further.filter(({ outcome }) => outcome.result !== "not offered")).toEqual([]);
    const notPassed = results.filter(({ outcome }) => outcome.result !== "passed");
    expect(notPassed.filter(({ outcome }) => outcome.result !== "not offered")).toEqual([]);
    expect(notPassed.map(({ check }) => check.id).filter((id) => !mayBeMissing.includes(id))).toEqual([]);
    const kit = createKit(session, [], []);
    for (const { remove } of session.leftovers) expect(await remove(kit)).toBeUndefined();
  } finally {
    await receiver.close();
    await server.stop();
  }
});
