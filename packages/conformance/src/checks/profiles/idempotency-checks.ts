import { expect, profileCheck } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { describeReply } from "../../http/reply.js";
import { repeatedRequest, reusedKey, withoutKey } from "../key-checks.js";

const source = "IETF draft-ietf-httpapi-idempotency-key-header";
const writes = ["transaction"] as const;

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
    "idempotency.reused",
    "idempotency",
    `${source}, section 2.7`,
    "A key that is reused for another body is answered with 422.",
    { needs: ["key.reused", "error.status"], writes },
    async (kit) => {
      expectStatus((await reusedKey(kit)).second.reply, 422, "a key that is reused for another body");
    },
  ),
  profileCheck(
    "idempotency.replayed",
    "idempotency",
    `${source}, section 2.6`,
    "A repeated request gets the response of the first.",
    { needs: ["key.repeat.status"], writes },
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
