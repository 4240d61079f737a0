import { describe, expect, it } from "vitest";
import { registerEarly } from "../src/checks/webhooks/register-early.js";
import { createKit } from "../src/engine/kit.js";
import { type CheckResult, runChecks } from "../src/engine/run-checks.js";
import { createSession } from "../src/engine/session.js";
import { readTarget } from "../src/target/read-target.js";
import { startReceiver } from "../src/webhooks/receiver.js";
import { connectInMemory } from "./memory-connection.js";
import { type OtherChoice, type OtherChoiceName, otherChoices } from "./servers/other/other-choices.js";
import { checksOfChoice } from "./servers/other/other-reach.js";
import { otherTokens, startOtherServer } from "./servers/other/other-server.js";
import { otherSecret } from "./servers/other/other-webhooks.js";
import { unnamedValues } from "./unnamed-values.js";
import { useVirtualTime } from "./virtual-time.js";

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

/** For the many choices: the server is faster with them. What the target file does not state is not decided after these waits. */
const shortTiming = {
  pollMs: 10,
  quietMs: 250,
  keyMs: 50,
  resultMs: 10_000,
  webhookMs: 5000,
  retryMs: 5000,
};

const mayBeMissing = [
  "shown.amount.string",
  "shown.amount.equal",
  "shown.amount.exact",
  "shown.reference",
  "shown.reference.exact",
  "shown.asset",
  "tx.get.own",
  "tx.get.together",
  "tx.create.once",
  "webhook.each.every",
  "webhook.members.every",
  "failed.result",
  "failed.repeat",
  "failed.announced",
  "failed.retry",
  "policy.code.alone",
  "policy.nothing-created",
  "policy.announced",
  "refused.nothing-created",
  "key.repeat.nothing-created",
  "key.hang-up",
  "wallet.create.not-final",
];

interface OtherRun {
  readonly choice?: OtherChoiceName;
  readonly isSlow: boolean;
}

/** The results of the contract's checks against the Other server, with what it may choose besides. */
async function runOther({ choice, isSlow }: OtherRun): Promise<CheckResult[]> {
  const receiver = await startReceiver({ host: "127.0.0.1", port: 0 });
  // The network is that of the run without a choice.
  const isNear = choice !== undefined;
  const connectReceiver = isNear ? () => connectInMemory(receiver.accept) : undefined;
  const server = await startOtherServer(choice, connectReceiver);
  try {
    const environment = {
      OTHER_TOKEN: otherTokens.own,
      OTHER_REVOKED: otherTokens.revoked,
      OTHER_SECRET: otherSecret,
    };
    const { file = [] }: OtherChoice = choice === undefined ? {} : otherChoices[choice];
    const source = file.reduce((text, [from, to]) => text.replace(from, to), targetFile);
    const read = readTarget(source, { baseUrl: server.url }, environment);
    const timing = choice === undefined ? read.timing : { ...read.timing, ...shortTiming };
    const target = { ...read, timing };
    const connect = isNear ? () => connectInMemory(server.accept) : undefined;
    const session = createSession({ target, token: otherTokens.own, receiver, connect });
    const checks = checksOfChoice(choice);
    const all = await runChecks(session, { checks, isSlow, prepare: registerEarly });
    const further = all.filter(({ check }) => check.level !== "contract");
    expect(further.filter(({ outcome }) => outcome.result !== "not offered")).toEqual([]);
    const kit = createKit(session);
    for (const { remove } of session.leftovers) expect(await remove(kit)).toBeUndefined();
    session.end();
    return all.filter(({ check }) => check.level === "contract");
  } finally {
    await receiver.close();
    await server.stop();
  }
}

it("a correct server that differs from Bursar in everything that is open passes", async () => {
  const notPassed = (await runOther({ isSlow: true })).filter(({ outcome }) => outcome.result !== "passed");
  expect(notPassed.filter(({ outcome }) => outcome.result !== "not offered")).toEqual([]);
  expect(notPassed.map(({ check }) => check.id).filter((id) => !mayBeMissing.includes(id))).toEqual([]);
});

const choiceNames = Object.keys(otherChoices) as OtherChoiceName[];

const isFaulty = (name: OtherChoiceName) => "fails" in otherChoices[name];

describe("with another choice", () => {
  useVirtualTime();
  it.each(choiceNames.filter((name) => !isFaulty(name)))("a correct server passes with %s", expectChoice);
  it.each(choiceNames.filter(isFaulty))("one check alone fails with %s", expectChoice);
});

async function expectChoice(choice: OtherChoiceName): Promise<void> {
  const results = await runOther({ choice, isSlow: false });
  const { missing = [], warned = [], undecided = [], fails }: OtherChoice = otherChoices[choice];
  const wrong = results.filter(({ check: { id }, outcome }) => {
    if (outcome.result === "passed") return false;
    if (outcome.result === "warned") return !warned.includes(id);
    if (outcome.result === "not offered") return !(mayBeMissing.includes(id) || missing.includes(id));
    if (outcome.result === "failed")
      return id !== fails?.check || !`${outcome.expected}; ${outcome.seen}`.includes(fails.words);
    if (outcome.result !== "not run" || outcome.isSlow === true) return outcome.result !== "not run";
    const waitsFor = outcome.waitsFor ?? "";
    return !(undecided.includes(id) || undecided.includes(waitsFor) || waitsFor === fails?.check);
  });
  expect(wrong.map(({ check, outcome }) => ({ id: check.id, outcome }))).toEqual([]);
  // A warning that does not come is as wrong as one that does.
  const silent = results.filter(
    ({ check: { id }, outcome }) => warned.includes(id) && outcome.result === "passed",
  );
  expect(silent.map(({ check }) => check.id)).toEqual([]);
  const failed = results.filter(({ outcome }) => outcome.result === "failed");
  expect(failed.map(({ check }) => check.id)).toEqual(fails === undefined ? [] : [fails.check]);
  expect(unnamedValues(results)).toEqual([]);
}
