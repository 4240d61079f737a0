import { expect, profileCheck } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { showValue } from "../../engine/name-value.js";
import { percentEncode } from "../../http/percent-encode.js";
import { describeReply, errorOf, type Reply } from "../../http/reply.js";
import { withoutToken } from "../access-checks.js";
import { malformedBody } from "../body-checks.js";
import { numberAmount, repeatedRequest, withoutKey } from "../keys/key-scenarios.js";
import { expectRefused, isAccepted, sharedTransaction } from "../scenarios.js";
import { unknownTransaction } from "../transaction-checks.js";

const source = "Bursar's own documents: openapi.json and the guides.";
const writes = ["transaction"] as const;
const row = { needs: ["tx.get.found", "error.object"], writes };

const expectStatus = (reply: Reply, status: number, what: string) =>
  expect(reply.status === status, `status ${status} for ${what}`, describeReply(reply));

const expectHeader = (reply: Reply, name: string, form: RegExp, what: string) =>
  expect(form.test(reply.header(name) ?? ""), `${name} ${what}`, reply.header(name) ?? "none");

/** What Bursar promises beyond the contract, as far as any client can see it. */
export const bursarChecks = [
  profileCheck(
    "bursar.malformed-json",
    "bursar",
    source,
    "Malformed JSON is answered with 400.",
    { ...row, needs: ["error.malformed-json.object", "error.status"] },
    async (kit) => {
      expectStatus((await malformedBody(kit)).reply, 400, "malformed JSON");
    },
  ),
  profileCheck(
    "bursar.repeated-member",
    "bursar",
    source,
    "A body with a repeated member is refused.",
    row,
    async (kit) => {
      const { asset, amount } = kit.target.transaction;
      const body = `{"reference":"${kit.newName()}","asset":"${asset}","amount":"${amount}","amount":"${amount}"}`;
      expectRefused((await kit.create({ body })).reply, "a body in which a member is repeated");
    },
  ),
  profileCheck(
    "bursar.unknown-member",
    "bursar",
    source,
    "A body with an unknown member is refused.",
    row,
    async (kit) => {
      expectRefused(
        (await kit.create({ fields: { conformance_unknown: "1" } })).reply,
        "a body with an unknown member",
      );
    },
  ),
  profileCheck(
    "bursar.unauthenticated",
    "bursar",
    source,
    "A missing token is answered with 401 and WWW-Authenticate.",
    { ...row, needs: ["error.no-token.object", "error.status"] },
    async (kit) => {
      const { reply } = await withoutToken(kit);
      expectStatus(reply, 401, "a missing token");
      expectHeader(reply, "WWW-Authenticate", /^Bearer\b/i, "that names the scheme Bearer");
    },
  ),
  profileCheck(
    "bursar.not-found",
    "bursar",
    source,
    "An unknown transaction is answered with 404.",
    { ...row, needs: ["error.unknown-id.object", "error.status"] },
    async (kit) => {
      expectStatus((await unknownTransaction(kit)).reply, 404, "an unknown transaction");
    },
  ),
  profileCheck(
    "bursar.method",
    "bursar",
    source,
    "A wrong method is answered with 405 and Allow.",
    { ...row, needs: ["error.wrong-method.object", "error.status"] },
    async (kit) => {
      const reply = await kit.send("PATCH", "/v1/orderbook");
      expectStatus(reply, 405, "a method that the path does not have");
      expectHeader(reply, "Allow", /\bGET\b/, "that lists GET");
    },
  ),
  profileCheck(
    "bursar.location",
    "bursar",
    source,
    "The 202 has the address of the transaction in Location.",
    row,
    async (kit) => {
      const { reply, id } = await sharedTransaction(kit);
      expect(
        reply.header("location")?.endsWith(`/v1/transactions/${id}`) === true,
        `Location with /v1/transactions/${id}`,
        reply.header("location") ?? "none",
      );
    },
  ),
  profileCheck(
    "bursar.request-id-header",
    "bursar",
    source,
    "X-Request-Id has the request_id of the error.",
    { ...row, needs: ["error.request-id.string", "error.request-id.unique"] },
    async (kit) => {
      const { reply } = await withoutKey(kit);
      const id = errorOf(reply)?.["request_id"];
      expect(
        reply.header("x-request-id") === id,
        `X-Request-Id ${showValue(id)}`,
        reply.header("x-request-id") ?? "none",
      );
    },
  ),
  profileCheck(
    "bursar.key-after-refusal",
    "bursar",
    source,
    "A request that was refused does not use up its key.",
    { ...row, needs: ["body.amount.number"] },
    async (kit) => {
      const refused = await numberAmount(kit);
      const { reply } = await kit.create({ key: refused.key });
      expect(
        isAccepted(kit.target, reply),
        "status 202 for a valid request under a key whose first request was refused",
        describeReply(reply),
      );
    },
  ),
  profileCheck(
    "bursar.replayed",
    "bursar",
    source,
    "A repeated request is marked with Idempotent-Replayed.",
    { ...row, needs: ["key.repeat.same-id"] },
    async (kit) => {
      expectHeader(
        (await repeatedRequest(kit)).second.reply,
        "Idempotent-Replayed",
        /^true$/,
        "true for a repeated request",
      );
    },
  ),
  profileCheck(
    "bursar.etag",
    "bursar",
    source,
    "GET answers 304 to the ETag of what has not changed.",
    { ...row, needs: ["tx.get.result-stays"] },
    async (kit: Kit) => {
      const { id } = await sharedTransaction(kit);
      const path = `/v1/transactions/${percentEncode(id)}`;
      const etag = (await kit.send("GET", path)).header("etag") ?? "none";
      const reply = await kit.send("GET", path, { headers: [["If-None-Match", etag]] });
      expectStatus(reply, 304, `If-None-Match ${etag}`);
    },
  ),
];
