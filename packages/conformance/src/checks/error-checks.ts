import {
  type Check,
  CheckFailed,
  contractCheck,
  expect,
  fail,
  NoResponse,
  NotOffered,
  WaitsFor,
} from "../engine/check.js";
import type { Attempt, Kit } from "../engine/kit.js";
import { describeValue, showValue } from "../engine/name-value.js";
import { describeReply, errorOf, isRefusal, objectsBesideError, type Reply } from "../http/reply.js";
import { withoutToken } from "./access-checks.js";
import { malformedBody } from "./body-checks.js";
import { numberAmount, onOneConnection, withoutKey } from "./keys/key-scenarios.js";
import { isAccepted } from "./scenarios.js";
import { unknownTransaction } from "./transaction-checks.js";

const object = "error.object";
/** What nobody calls short any more. */
const [messageLength, messageLines] = [500, 5];
const writes = ["transaction"] as const;
const row = { needs: [object], writes };

/** A refusal of a create request, by which the form of errors is judged. Other refusals have checks of their own, below. */
async function usualRefusal(kit: Kit): Promise<Reply> {
  const refused = (
    await answersTo(
      () => withoutKey(kit),
      () => numberAmount(kit),
    )
  ).find(isRefusal);
  if (refused === undefined) throw new NotOffered("No request was refused, so there is no error to look at.");
  return refused;
}

/** The answers to those of these requests that are answered; one that is not has a check of its own. */
async function answersTo(...requests: (() => Promise<Attempt>)[]): Promise<Reply[]> {
  const replies: Reply[] = [];
  let dropped: NoResponse | undefined;
  for (const send of requests)
    try {
      replies.push((await send()).reply);
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      dropped ??= error;
    }
  if (replies.length === 0 && dropped !== undefined) throw dropped;
  return replies;
}

async function usualError(kit: Kit): Promise<{ reply: Reply; error: Record<string, unknown> }> {
  const reply = await usualRefusal(kit);
  return { reply, error: errorOf(reply) ?? {} };
}

/** The error object, as section 7 describes it. */
const objectChecks = [
  contractCheck(
    object,
    "7.object",
    "An error response has an object named error.",
    { needs: ["tx.create.admitted"], writes },
    async (kit) => {
      const reply = await usualRefusal(kit);
      // Of a member that occurs twice a parser takes one, and lacks what is in the other.
      const hasMembers = Object.keys(errorOf(reply) ?? {}).length > 0;
      expect(hasMembers, "a JSON body with an object named error, which has members", describeReply(reply));
      const type = reply.header("content-type");
      if (!/^(application|text)\/([\w.-]+\+)?json\b/i.test(type ?? ""))
        kit.warn(
          `The error is JSON and its Content-Type is ${type ?? "missing"}. The contract does not name one; clients that look at it do not read such an error.`,
        );
    },
  ),
  contractCheck("error.object.alone", "7.object", "error is the only top-level object.", row, async (kit) => {
    const reply = await usualRefusal(kit);
    const objects = objectsBesideError(reply);
    const seen = `the objects error, ${objects.join(", ")}`;
    expect(objects.length === 0, "error as the only top-level object", seen, reply);
    const others = Object.keys(reply.json as object).filter((name) => name !== "error");
    if (others.length > 0)
      kit.warn(
        `Beside error the body has ${others.join(", ")}, which are no objects. The contract describes one top-level object named error, and does not say whether other members may be beside it.`,
      );
  }),
  contractCheck("error.status", "1.errors", "An error is not answered with 200 or 202.", row, async (kit) => {
    expectFailed(await usualRefusal(kit), "an error");
  }),
  contractCheck("error.code", "7.code", "error.code is a string.", row, async (kit) => {
    const { reply, error } = await usualError(kit);
    const { code } = error;
    expect(typeof code === "string" && code !== "", "a string as error.code", describeValue(code), reply);
  }),
  contractCheck(
    "error.code.form",
    "7.code",
    "error.code is in upper snake case.",
    { ...row, needs: ["error.code"] },
    async (kit) => {
      const { reply, error } = await usualError(kit);
      expect(isUpperSnake(error["code"]), "error.code in upper snake case", showValue(error["code"]), reply);
    },
  ),
  contractCheck(
    "error.code.stable",
    "7.code",
    "The same mistake has the same error.code, so that a program can act on it.",
    { ...row, needs: ["error.code.form", "key.required"] },
    async (kit) => {
      const first = errorOf((await withoutKey(kit)).reply)?.["code"];
      const { reply } = await kit.create({ key: null });
      if (isAccepted(kit.target, reply))
        throw new CheckFailed(
          "a refusal of every request without Idempotency-Key",
          `${describeReply(reply)}, although another one was refused`,
          "key.required",
        );
      const second = errorOf(reply)?.["code"];
      expect(
        first === second,
        `error.code ${showValue(first)} for a request without a key`,
        showValue(second),
      );
    },
  ),
  contractCheck("error.message", "7.message", "error.message is a string.", row, async (kit) => {
    const { reply, error } = await usualError(kit);
    const { message } = error;
    expect(isText(message), "a string that is not empty as error.message", describeValue(message), reply);
    const long = describeLong(message);
    if (long !== undefined) kit.warn(long);
  }),
  contractCheck("error.request-id", "7.request-id", "error.request_id is present.", row, async (kit) => {
    const { reply, error } = await usualError(kit);
    const { request_id: id } = error;
    expect(id !== undefined && id !== null && id !== "", "error.request_id", showValue(id), reply);
  }),
  contractCheck(
    "error.request-id.string",
    "7.request-id",
    "error.request_id is a string.",
    { ...row, needs: ["error.request-id"] },
    async (kit) => {
      const { reply, error } = await usualError(kit);
      const { request_id: id } = error;
      expect(typeof id === "string", "a string as error.request_id", describeValue(id), reply);
    },
  ),
  contractCheck(
    "error.request-id.unique",
    "7.request-id",
    "error.request_id differs from request to request.",
    { ...row, needs: ["error.request-id"] },
    async (kit) => {
      const fields = { amount: Number(kit.target.transaction.amount) };
      const replies = await onOneConnection(kit, (agent) =>
        answersTo(
          () => withoutKey(kit),
          () => numberAmount(kit),
          () => kit.create({ key: null, fields, agent }),
          () => kit.create({ key: null, fields, agent }),
        ),
      );
      const ids = replies.flatMap((reply) => {
        const id = errorOf(reply)?.["request_id"];
        return id === undefined ? [] : [JSON.stringify(id)];
      });
      expect(
        new Set(ids).size === ids.length,
        "a request_id of its own for each request",
        ids.map(showValue).join(", "),
      );
    },
  ),
];

/** Failures that often leave an implementation's own error handling, each with the check that shows that it is one. */
export const errorKinds: readonly {
  name: string;
  what: string;
  needs: string[];
  make: (kit: Kit) => Promise<Reply>;
}[] = [
  {
    name: "no-token",
    what: "a request without a token",
    needs: ["access.none"],
    make: async (kit) => (await withoutToken(kit)).reply,
  },
  {
    name: "unknown-id",
    what: "an unknown transaction",
    needs: ["tx.get.unknown"],
    make: async (kit) => (await unknownTransaction(kit)).reply,
  },
  {
    name: "malformed-json",
    what: "malformed JSON",
    needs: ["body.malformed"],
    make: async (kit) => (await malformedBody(kit)).reply,
  },
  {
    name: "number-amount",
    what: "an amount that is a JSON number",
    needs: ["body.amount.number"],
    make: async (kit) => (await numberAmount(kit)).reply,
  },
  {
    name: "unknown-path",
    what: "an unknown path",
    needs: [],
    make: (kit) => kit.fixture("unknown path", (own) => own.send("GET", `/v1/${own.newName()}`)),
  },
  {
    name: "wrong-method",
    what: "a method that a path does not have",
    needs: [],
    make: (kit) => kit.fixture("wrong method", (own) => own.send("PATCH", "/v1/orderbook")),
  },
];

/**
 * Holds a refusal to section 7 as far as the usual refusal keeps it: what no error of the target has is the failure of another check, and
 * one failure is enough.
 */
async function expectUsualForm(kit: Kit, reply: Reply, what: string): Promise<void> {
  const usual = await usualRefusal(kit);
  const error = errorOf(reply);
  const usualMembers = errorOf(usual);
  if (error === undefined && usualMembers === undefined) throw new WaitsFor(object);
  expect(error !== undefined, `an error object for ${what}`, describeReply(reply));
  for (const name of ["code", "message"])
    if (isText(error[name]) === false && (usualMembers === undefined || isText(usualMembers[name])))
      fail(`a string as error.${name} for ${what}`, describeValue(error[name]), reply);
  if (!isSuccess(usual)) expectFailed(reply, what);
}

export const isUpperSnake = (value: unknown) =>
  typeof value === "string" && /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(value);

export const isText = (value: unknown) => typeof value === "string" && value.trim() !== "";

/** The contract names two statuses, both of success; what others mean is open. */
export const isSuccess = ({ status }: Reply) => status === 200 || status === 202;

export function expectFailed(reply: Reply, what: string): void {
  expect(
    !isSuccess(reply),
    `a status other than 200 and 202 for ${what}`,
    `status ${reply.status} with an error object`,
    reply,
  );
}

const kindChecks: readonly Check[] = errorKinds.flatMap(({ name, what, needs, make }) => {
  const refused = async (kit: Kit) => {
    const reply = await make(kit);
    // Of what needs no token a redirect shows no error; without a token it stands for one.
    const isSentOn = name === "no-token" && reply.status >= 300 && reply.status < 400;
    if (!isRefusal(reply) && !isSentOn) throw new NotOffered(`The target does not refuse ${what}.`);
    return reply;
  };
  return [
    contractCheck(
      `error.${name}.object`,
      "1.errors",
      `The refusal of ${what} has an error object.`,
      { needs: ["tx.create.admitted", ...needs], writes },
      async (kit) => expectUsualForm(kit, await refused(kit), what),
    ),
    contractCheck(
      `error.${name}.request-id`,
      "7.request-id",
      `The refusal of ${what} has a request_id.`,
      { needs: [`error.${name}.object`, "error.request-id.string"], writes },
      async (kit) => {
        const reply = await refused(kit);
        const id = errorOf(reply)?.["request_id"];
        expect(typeof id === "string" && id !== "", `a request_id for ${what}`, describeValue(id), reply);
      },
    ),
  ];
});

export const errorChecks: readonly Check[] = [...objectChecks, ...kindChecks];

/** What is said of a message that is not short; undefined if it is. */
export function describeLong(message: unknown): string | undefined {
  const text = String(message);
  const lines = text.split("\n").length;
  return text.length > messageLength || lines > messageLines
    ? `error.message has ${text.length} characters in ${lines} lines. The contract calls it a short human-readable text.`
    : undefined;
}
