import { randomUUID } from "node:crypto";
import { contractCheck, ignoreNoResponse, NotOffered } from "../../engine/check.js";
import { type CreateOptions, type Kit, membersOf } from "../../engine/kit.js";
import { isRefusal, type Reply } from "../../http/reply.js";
import { unissued } from "../access-checks.js";
import { firstAcceptances, keyIn } from "../every/run-transactions.js";
import { refusedFields } from "../policy-checks.js";
import { expectAccepted, isAccepted, showTransaction } from "../scenarios.js";
import { expectMembersKept } from "../shown-members.js";
import {
  type Accepted,
  acceptBeyondAscii,
  acceptTransaction,
  expectOne,
  isSecond,
  reorder,
  repeat,
  reusedKey,
  withId,
} from "./key-scenarios.js";

/** What is not shown as it was sent is their failure. */
const shownFirst = ["shown.amount.equal", "shown.asset", "shown.reference", "key.repeat.unchanged"];
const longKeys = [270, 96];
/** When each of four keys is sent: some after others were used, some after others were repeated. Enough to notice that one in five is left out. */
const mixedKeys = [0, 1, 0, 2, 1, 3, 0, 2, 3];
/** JSON allows spaces, so a long request need not have long members. */
const longBody = 2000;
/** Sent in keys: as in names with parts, addresses, base 64 and programs. */
const symbols = ":/+=.~!#$&*";
/** Of a UUID. */
const usualLength = 36;
/** More other keys than a small memory has room for, and for how long after the first of them a client may still repeat its request. */
const manyKeys = 32;
const manyKeysMs = 20_000;

/** Requests that differ in what a memory of keys can depend on. All but the usual ones may be refused: lengths and sizes are open. */
function requests(kit: Kit): readonly [what: string, options: CreateOptions][] {
  const body = JSON.stringify(membersOf(kit, kit.newName()));
  return [
    ["the header spelt idempotency-key", { keyHeader: "idempotency-key" }],
    ...longKeys.map((length): [string, CreateOptions] => [
      `a key of more than ${length} characters`,
      { key: `${kit.newName()}-${"k".repeat(length)}` },
    ]),
    [`a body of more than ${longBody} bytes`, { body: `${body.slice(0, -1)}${" ".repeat(longBody)}}` }],
    ["a key of digits alone", { key: BigInt(`0x${randomUUID().replaceAll("-", "")}`).toString() }],
    ["a key with symbols", { key: symbolKey(kit) }],
  ];
}

function symbolKey(kit: Kit): string {
  const length = Math.min(kit.session.keyLength ?? usualLength, usualLength);
  return `${kit
    .newKey()
    .replaceAll("-", "")
    .slice(0, length - symbols.length)}${symbols}`.slice(0, length);
}

const keyHeaderOf = ({ keyHeader }: CreateOptions) => (keyHeader === undefined ? {} : { keyHeader });

/** Keys that the other checks send once. */
export const keyKeptChecks = [
  contractCheck(
    "key.repeat.each",
    "1.transactions",
    "Every key is remembered: long ones, those with symbols, those of long requests, after many others, and with the header spelt in lower case.",
    {
      needs: ["key.repeat.other-connection"],
      unlessFailed: [
        "key.header-name",
        "key.repeat.final",
        "key.repeat.later",
        "key.race",
        "key.whole",
        "tx.create.together",
      ],
      writes: ["transaction"],
    },
    async (kit) => {
      for (const [what, options] of requests(kit)) {
        const mayBeRefused = options.key !== undefined || options.body !== undefined;
        const sent = kit.create(options);
        const first = await (mayBeRefused ? sent.catch(ignoreNoResponse) : sent);
        if (first === undefined || (mayBeRefused && !isAccepted(kit.target, first.reply))) continue;
        expectAccepted(kit, first.reply);
        const second = await repeat(kit, first, keyHeaderOf(options));
        const wanted = `after the same request was sent twice with ${what}`;
        await expectOne(kit, withId(kit, first), second, wanted);
      }
      await expectKeptInMix(kit);
      await expectKeptAfterConflict(kit);
      await expectKeptAfterRefusal(kit);
      await expectKeptAmongMany(kit);
    },
  ),
  contractCheck(
    "key.reused.unchanged",
    "1.transactions",
    "A transaction stays as it was requested when its key is sent with another body.",
    {
      needs: ["key.repeat.other-connection"],
      unlessFailed: ["tx.get.own", ...shownFirst],
      writes: ["transaction"],
    },
    async (kit) => {
      const { first, before, second } = await reusedKey(kit);
      if (isSecond(kit, first, second))
        kit.warn(
          `Another body under the key of ${first.id} has created another transaction. Section 8 leaves open what happens then; the profile idempotency wants a refusal.`,
        );
      const sent = membersOf(kit, first.reference);
      const how = "also after its key was sent with another body";
      expectMembersKept(kit, { id: first.id, sent, before, how }, await showTransaction(kit, first.id));
      // What is carried out later changes it later.
      await kit.sleep(kit.target.timing.quietMs);
      expectMembersKept(kit, { id: first.id, sent, before, how }, await showTransaction(kit, first.id));
    },
  ),
];

/** Of those keys, the one whose reference is beyond ASCII, if that is accepted, and the last use of a key: its members come in another order. */
const beyondAsciiAt = 1;
const reorderedUse = 6;

/** A memory of what was used or repeated last confuses keys whose requests alternate. */
async function expectKeptInMix(kit: Kit): Promise<void> {
  const accepted = new Map<number, Accepted>();
  for (const [use, at] of mixedKeys.entries()) {
    const first = accepted.get(at);
    const isBeyond = at === beyondAsciiAt;
    if (first === undefined)
      accepted.set(
        at,
        (isBeyond ? await acceptBeyondAscii(kit) : undefined) ?? (await acceptTransaction(kit)),
      );
    else if (use === reorderedUse) {
      const again = await repeat(kit, { ...first, body: reorder(first.body) });
      if (isSecond(kit, first, again))
        kit.warn(
          `The same request with its members in another order, sent with the key of ${first.id}, has created another transaction. The contract leaves open which bodies are the same; a client that serialises its request again pays twice. The profile idempotency has a check for it.`,
        );
    } else {
      const isBeyondAscii = /[^ -~]/.test(first.body);
      const what = isBeyondAscii ? "the same key and a reference beyond ASCII" : "the same key";
      const wanted = `after the same request was sent twice with ${what}, and others in between`;
      await expectOne(kit, first, await repeat(kit, first), wanted);
    }
  }
}

/** What a key is answered with after another body was refused under it is open, as long as nothing more is created. */
async function expectKeptAfterConflict(kit: Kit): Promise<void> {
  const reused = await reusedKey(kit).catch((error: unknown) => {
    if (error instanceof NotOffered) return undefined;
    throw error;
  });
  if (reused === undefined || !isRefusal(reused.second.reply)) return;
  const again = await repeat(kit, reused.first);
  await expectOne(kit, reused.first, again, "after another body was refused under its key");
}

/** Whether a key can be used after its first request was refused is open; if it can, it is a key like any other. */
async function expectKeptAfterRefusal(kit: Kit): Promise<void> {
  const amount = Number(kit.target.transaction.amount);
  const fields = await refusedFields(kit).catch((error: unknown) => {
    if (error instanceof NotOffered) return undefined;
    throw error;
  });
  const refusals: readonly [what: string, options: CreateOptions | undefined][] = [
    ["for an amount that was a JSON number", { fields: { amount } }],
    ["by policy", fields === undefined ? undefined : { fields }],
    ["for a token that nobody has issued", { authorization: unissued }],
  ];
  for (const [what, options] of refusals) {
    const refused = options === undefined ? undefined : await kit.create(options).catch(ignoreNoResponse);
    if (refused === undefined || !isRefusal(refused.reply)) continue;
    const first = await kit.create({ key: refused.key });
    if (!isAccepted(kit.target, first.reply)) continue;
    const second = await repeat(kit, first);
    const wanted = `after the same request was sent twice with a key whose first request was refused ${what}`;
    await expectOne(kit, withId(kit, first), second, wanted);
  }
}

/**
 * A memory of a few keys forgets those before them. The other checks have sent many keys, so a request of the run is repeated that has as many
 * after it; what is missing is sent. One that is older than a client waits is left out.
 */
async function expectKeptAmongMany(kit: Kit): Promise<void> {
  while (createdAlone(kit).length <= manyKeys) await acceptTransaction(kit);
  const first = createdAlone(kit).at(-1 - manyKeys);
  if (first === undefined) return;
  const afterMs = Date.now() - first.exchange.startedAt.getTime();
  if (afterMs > manyKeysMs) return;
  const { request } = first.exchange;
  const key = keyIn(request);
  const attempt = { key, reference: "", body: request.body ?? "", reply: first };
  const second = await repeat(kit, attempt);
  const wanted = `after the same request was sent ${afterMs} ms and ${manyKeys} other keys later`;
  await expectOne(kit, withId(kit, attempt), second, wanted);
}

/** The transactions of the run whose keys were sent once, in their order. */
function createdAlone(kit: Kit): Reply[] {
  const uses = new Map<string | undefined, number>();
  for (const { request } of kit.session.exchanges) {
    const key = keyIn(request);
    // An empty one that is accepted is the failure of another check, and no key.
    if (key !== undefined && key !== "") uses.set(key, (uses.get(key) ?? 0) + 1);
  }
  return firstAcceptances(kit).filter(({ exchange }) => uses.get(keyIn(exchange.request)) === 1);
}
