import { expect, profileCheck } from "../../engine/check.js";
import { type Kit, membersOf } from "../../engine/kit.js";
import { describeReply } from "../../http/reply.js";
import {
  acceptTransaction,
  expectOne,
  expectOneOf,
  reorder,
  repeat,
  repeatedRequest,
  reusedKey,
  withoutKey,
} from "../keys/key-scenarios.js";

const source = "IETF draft-ietf-httpapi-idempotency-key-header";
const reused = "idempotency.reused";
const writes = ["transaction"] as const;
/** Of each body half. */
const together = 6;

/** Statuses and responses that the IETF draft describes and the contract leaves open. */
export const idempotencyChecks = [
  profileCheck(
    "idempotency.missing",
    "idempotency",
    `${source}, section 2.7`,
    "A missing key is answered with 400.",
    { needs: ["key.required", "error.status"], writes },
    async (kit) => {
      expectStatus((await withoutKey(kit)).reply, 400, "a missing key");
    },
  ),
  profileCheck(
    reused,
    "idempotency",
    `${source}, section 2.2: a key must not be reused with another payload`,
    "A key that is reused for another body does not create a second transaction.",
    { needs: ["key.repeat.other-connection"], writes },
    async (kit) => {
      const { first, second } = await reusedKey(kit);
      await expectOne(kit, first, second, "after its key was reused with another body");
    },
  ),
  profileCheck(
    "idempotency.reused.together",
    "idempotency",
    `${source}, section 2.2: a key must not be reused with another payload`,
    "Two bodies that arrive together under one key do not create two transactions.",
    { needs: [reused], unlessFailed: ["key.race", "key.repeat.each"], writes },
    async (kit) => {
      const key = kit.newKey();
      const bodies = [kit.newName(), kit.newName()].map((name) => JSON.stringify(membersOf(kit, name)));
      const sent = Array.from({ length: together }, (_, at) =>
        kit.create({ key, body: bodies[at % bodies.length], isConcurrent: true }),
      );
      await expectOneOf(
        kit,
        await Promise.all(sent),
        `${together} concurrent requests with two bodies under one key`,
      );
    },
  ),
  profileCheck(
    "idempotency.reordered",
    "idempotency",
    `${source}, section 2.2; RFC 8259, section 4: the members of an object have no order`,
    "A request that is repeated with its members in another order does not create a second transaction.",
    { needs: [reused], writes },
    async (kit) => {
      const first = await acceptTransaction(kit);
      const second = await repeat(kit, { ...first, body: reorder(first.body) });
      await expectOne(kit, first, second, "after its members were sent in another order with the same key");
    },
  ),
  profileCheck(
    "idempotency.reused.status",
    "idempotency",
    `${source}, section 2.7`,
    "A key that is reused for another body is answered with 422.",
    { needs: [reused, "error.status"], writes },
    async (kit) => {
      expectStatus((await reusedKey(kit)).second.reply, 422, "a key that is reused for another body");
    },
  ),
  profileCheck(
    "idempotency.replayed",
    "idempotency",
    `${source}, section 2.6`,
    "A repeated request gets the response of the first.",
    { needs: ["tx.create.accepted", "key.repeat.same-id"], writes },
    async (kit) => {
      const { first, second } = await repeatedRequest(kit);
      expect(
        first.reply.status === second.reply.status,
        `status ${first.reply.status} again`,
        describeReply(second.reply),
      );
      expect(
        first.reply.text === second.reply.text,
        `the first response again: ${first.reply.text}`,
        second.reply.text,
      );
    },
  ),
];

function expectStatus(reply: Awaited<ReturnType<Kit["send"]>>, status: number, what: string): void {
  expect(reply.status === status, `status ${status} for ${what}`, describeReply(reply));
}
