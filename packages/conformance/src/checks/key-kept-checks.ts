import { randomUUID } from "node:crypto";
import { contractCheck, ignoreNoResponse, NotOffered } from "../engine/check.js";
import { type CreateOptions, type Kit, membersOf } from "../engine/kit.js";
import { isRefusal } from "../http/reply.js";
import { type Accepted, acceptTransaction, expectOne, repeat, reusedKey, withId } from "./key-scenarios.js";
import { expectAccepted, isAccepted } from "./scenarios.js";

const longKeys = [270, 96];
/** When each of four keys is sent: some after others were used, some after others were repeated. Enough to notice that one in five is left out. */
const mixedKeys = [0, 1, 0, 2, 1, 3, 0, 2, 3];
/** JSON allows spaces, so a long request need not have long members. */
const longBody = 2000;

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
  ];
}

const keyHeaderOf = ({ keyHeader }: CreateOptions) => (keyHeader === undefined ? {} : { keyHeader });

/** Keys that the other checks send once. */
export const keyKeptChecks = [
  contractCheck(
    "key.repeat.each",
    "1.transactions",
    "Every key is remembered: long ones, those of long requests, and with the header spelt in lower case.",
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
    },
  ),
];

/** A memory of what was used or repeated last confuses keys whose requests alternate. */
async function expectKeptInMix(kit: Kit): Promise<void> {
  const accepted = new Map<number, Accepted>();
  for (const at of mixedKeys) {
    const first = accepted.get(at);
    if (first === undefined) accepted.set(at, await acceptTransaction(kit));
    else {
      const wanted = "after the same request was sent twice with the same key, and others in between";
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
