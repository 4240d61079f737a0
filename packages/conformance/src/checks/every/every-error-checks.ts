import { contractCheck, expect, NotOffered } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { describeValue } from "../../engine/name-value.js";
import { isRefusedByQuota } from "../../engine/quota.js";
import { isOfGateway } from "../../http/find-gateway.js";
import {
  describeReply,
  errorOf,
  findWrongEncoding,
  isObject,
  mediaTypeOf,
  objectsBesideError,
  type Reply,
  replyOf,
} from "../../http/reply.js";
import type { RequestToSend } from "../../http/send.js";
import { book } from "../endpoint-checks.js";
import { describeLong, errorKinds, isSuccess, isText, isUpperSnake } from "../error-checks.js";
import { policyRefusal } from "../policy-checks.js";
import { furtherRequests } from "./further-requests.js";
import { keyIn } from "./run-transactions.js";

/**
 * Section 7 is about every error response, and most of those that a run receives belong to checks that only ask whether something is
 * refused. These checks look at all of them at the end. One rule is one failure, whatever the number of responses that break it.
 */

const shownMax = 5;
/** Paths of the contract, and those that the kit invents. Other paths, such as a token endpoint, have errors of their own form. */
const ownPaths = /^\/v1\/(transactions(\/[^/]+)?|wallets|orderbook|conformance-[^/]+)$/;

/** What is no URI can be answered before it reaches the service. */
const isMalformed = (pathname: string) => /%(?![0-9a-f]{2})/i.test(pathname);

/** A resource can have a member named error too, so an error under a status of success has nothing else. */
const isError = ({ status, json }: Reply) =>
  status >= 400 || (isObject(json) && isObject(json["error"]) && Object.keys(json).length === 1);

/** All error responses of the run so far. */
function errorReplies({ target, session }: Kit): Reply[] {
  const base = target.baseUrl.pathname.replace(/\/$/, "");
  return session.exchanges.flatMap((exchange) => {
    const { rawPath, url } = exchange.request;
    const { pathname } = url;
    const isOwn =
      rawPath === undefined && pathname.startsWith(base) && ownPaths.test(pathname.slice(base.length));
    const reply = !isOwn || isMalformed(pathname) || isOfGateway(exchange) ? undefined : replyOf(exchange);
    return reply !== undefined && isError(reply) ? [reply] : [];
  });
}

/** Responses of which this is the same come from the same place of the target. */
const kindOf = (reply: Reply) => `${reply.status} ${errorOf(reply)?.["code"] ?? mediaTypeOf(reply)}`;

const isComplete = (reply: Reply) => {
  const { code, message } = errorOf(reply) ?? {};
  return isText(code) && isText(message) && !isSuccess(reply);
};

/** The kinds of responses that have failed a check of their own. */
async function failedElsewhere(kit: Kit, isGood: (reply: Reply) => boolean): Promise<Set<string>> {
  const failed = new Set<string>();
  for (const { make } of errorKinds) {
    const reply = await make(kit).catch(() => undefined);
    if (reply !== undefined && !(isComplete(reply) && isGood(reply))) failed.add(kindOf(reply));
  }
  const snapshot = await book(kit).catch(() => undefined);
  if (snapshot !== undefined && isError(snapshot) && isSuccess(snapshot)) failed.add(kindOf(snapshot));
  // Whatever its form, it is the failure of the check that reads the order book.
  for (const reply of errorReplies(kit)) if (isBookRead(kit, reply)) failed.add(kindOf(reply));
  const policy = (await policyRefusal(kit).catch(() => undefined))?.reply;
  const isRejected = policy !== undefined && errorOf(policy)?.["code"] === "POLICY_REJECTED";
  if (policy !== undefined && (!isRejected || isSuccess(policy))) failed.add(kindOf(policy));
  return failed;
}

const isBookRead = ({ target, session }: Kit, reply: Reply) => {
  const { method, url, headers } = reply.exchange.request;
  const isOwn = headers.some(
    ([name, value]) => name === "Authorization" && value === `Bearer ${session.token}`,
  );
  return (
    isOwn && method === "GET" && url.pathname.endsWith("/v1/orderbook") && !isRefusedByQuota(target, reply)
  );
};

interface Rule {
  readonly wanted: string;
  /** What is wrong; undefined if nothing is. */
  readonly wrong: (reply: Reply) => string | undefined;
  /** What the checks of single refusals look at besides the error object. */
  readonly isGoodElsewhere?: (reply: Reply) => boolean;
}

async function expectEach(kit: Kit, { wanted, wrong, isGoodElsewhere = () => true }: Rule): Promise<void> {
  await furtherRequests(kit);
  const elsewhere = await failedElsewhere(kit, isGoodElsewhere);
  const replies = errorReplies(kit);
  if (replies.length === 0) throw new NotOffered("No request was refused, so there is no error to look at.");
  const byKind = new Map<string, Reply[]>();
  for (const reply of replies.filter((one) => wrong(one) !== undefined && !elsewhere.has(kindOf(one)))) {
    const { method, url } = reply.exchange.request;
    const kind = `${method} ${url.pathname} ${kindOf(reply)}`;
    byKind.set(kind, [...(byKind.get(kind) ?? []), reply]);
  }
  const kinds = [...byKind.values()];
  kit.cite(kinds.slice(0, shownMax).flatMap(([first]) => (first === undefined ? [] : [first.exchange])));
  const rest = kinds.length > shownMax ? `; and ${kinds.length - shownMax} more kinds` : "";
  expect(
    kinds.length === 0,
    `${wanted} in each of the ${replies.length} error responses of the run`,
    kinds.slice(0, shownMax).map(describe).join("; ") + rest,
  );

  function describe(same: readonly Reply[]): string {
    const [first] = same;
    if (first === undefined) return "none";
    const { method, url } = first.exchange.request;
    const others = same.length > 1 ? `, and ${same.length - 1} more` : "";
    const accept = first.exchange.request.headers.find(([name]) => name === "Accept")?.[1] ?? "";
    const asked = accept.includes("json") ? "" : ` with Accept: ${accept}`;
    return `${wrong(first)} for ${method} ${url.pathname}${asked} (exchange ${first.exchange.index}${others})`;
  }
}

export const everyErrorChecks = [
  contractCheck(
    "error.every.object",
    "7.object",
    "Every error response of the run has one object named error, with a code and a message.",
    {
      needs: ["error.object.alone", "error.status", "error.code", "error.message"],
      writes: ["transaction", "wallet"],
      atEnd: true,
    },
    async (kit) => {
      await expectEach(kit, {
        wanted: "one object named error, with a code and a message,",
        wrong: (reply) =>
          isComplete(reply) && objectsBesideError(reply).length === 0 ? undefined : describeReply(reply),
      });
      warnOfLong(kit);
      const { malformed, left, closed, lost } = await furtherRequests(kit);
      if (closed !== undefined) throw closed;
      if (lost !== undefined) throw lost;
      if (left !== undefined)
        kit.warn(
          `Some requests that a target may refuse were not sent, so their errors were not seen. ${left}`,
        );
      if (malformed !== undefined && isError(malformed) && !isComplete(malformed))
        kit.warn(
          `The refusal of ${malformed.exchange.request.url.pathname}, which is no valid URI, has no error object: ${describeReply(malformed)}. A server in front of the service may have answered.`,
        );
    },
  ),
  contractCheck(
    "error.every.code",
    "7.code",
    "Every error.code of the run is in upper snake case.",
    { needs: ["error.code.form"], writes: ["transaction", "wallet"], atEnd: true },
    (kit) =>
      expectEach(kit, {
        wanted: "error.code in upper snake case",
        wrong: (reply) => {
          const { code } = errorOf(reply) ?? {};
          return isText(code) && !isUpperSnake(code) ? `the code ${code}` : undefined;
        },
      }),
  ),
  contractCheck(
    "error.every.encoding",
    "7.object",
    "Every error response of the run is JSON as it is sent between systems: UTF-8, without a byte order mark.",
    { needs: ["error.object"], writes: ["transaction", "wallet"], atEnd: true },
    (kit) =>
      expectEach(kit, {
        wanted: "JSON in UTF-8 without a byte order mark (RFC 8259, section 8.1)",
        wrong: (reply) => (errorOf(reply) === undefined ? undefined : findWrongEncoding(reply)),
      }),
  ),
  contractCheck(
    "error.every.request-id",
    "7.request-id",
    "Every error response of the run has a request_id.",
    { needs: ["error.request-id.string"], writes: ["transaction", "wallet"], atEnd: true },
    (kit) =>
      expectEach(kit, {
        wanted: "a string as error.request_id",
        wrong: (reply) => (hasRequestId(reply) ? undefined : describeValue(requestIdOf(reply))),
        isGoodElsewhere: hasRequestId,
      }),
  ),
  contractCheck(
    "error.every.request-id-unique",
    "7.request-id",
    "No two error responses of the run to different requests have one request_id.",
    {
      needs: ["error.request-id.unique"],
      unlessFailed: ["error.every.request-id"],
      writes: ["transaction", "wallet"],
      atEnd: true,
    },
    async (kit) => {
      const first = new Map<string, Reply>();
      for (const reply of errorReplies(kit)) {
        const id = requestIdOf(reply);
        if (typeof id !== "string" || id === "") continue;
        const other = first.get(id) ?? reply;
        first.set(id, other);
        const [own, its] = [reply, other].map(({ exchange }) => exchange.request);
        expect(
          other === reply || own === undefined || its === undefined || mayShareAnswer(own, its),
          "a request_id of its own for each request",
          `${id} of exchange ${other.exchange.index} again in exchange ${reply.exchange.index}, for ${own?.method} ${own?.url.pathname}`,
          reply,
        );
      }
    },
  ),
];

/** How short a message has to be is open, so a long one is no failure. */
function warnOfLong(kit: Kit): void {
  const long = errorReplies(kit).filter((reply) => describeLong(errorOf(reply)?.["message"]) !== undefined);
  const [first] = long.toSorted((one, other) => other.text.length - one.text.length);
  if (first === undefined) return;
  const { index, request } = first.exchange;
  kit.cite([first.exchange]);
  const others = long.length > 1 ? `, the longest of ${long.length}` : "";
  kit.warn(
    `${describeLong(errorOf(first)?.["message"])} It is that of ${request.method} ${request.url.pathname} (exchange ${index}${others}).`,
  );
}

/** A refusal can be remembered with its key, and the answer to a GET can come from a cache. */
function mayShareAnswer(one: RequestToSend, other: RequestToSend): boolean {
  if (one.method !== other.method || one.url.href !== other.url.href) return false;
  const key = keyIn(one);
  return one.method === "GET" || (key !== undefined && key === keyIn(other));
}

const requestIdOf = (reply: Reply) => errorOf(reply)?.["request_id"];

/** Without an error object there is nothing to have one, which is the failure of another check. */
const hasRequestId = (reply: Reply) => errorOf(reply) === undefined || isText(requestIdOf(reply));
