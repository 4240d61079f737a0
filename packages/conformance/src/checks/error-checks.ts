import { type Check, contractCheck, expect, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { describeReply, errorOf, isObject, isRefusal, type Reply } from "../http/reply.js";
import { withoutToken } from "./access-checks.js";
import { malformedBody } from "./body-checks.js";
import { numberAmount, withoutKey } from "./key-checks.js";
import { unknownTransaction } from "./transaction-checks.js";

const object = "error.object";
const writes = ["transaction"] as const;
const row = { needs: [object], writes };

/** Refusals of create requests. Those that have checks of their own, below, are left to them. */
async function refusals(kit: Kit): Promise<Reply[]> {
  const replies = [(await withoutKey(kit)).reply, (await numberAmount(kit)).reply].filter(isRefusal);
  if (replies.length === 0) throw new NotOffered("No request was refused, so there is no error to look at.");
  return replies;
}

async function eachError(
  kit: Kit,
  look: (error: Record<string, unknown>, reply: Reply) => void,
): Promise<void> {
  for (const reply of await refusals(kit)) look(errorOf(reply) ?? {}, reply);
}

const show = (value: unknown) => (value === undefined ? "none" : JSON.stringify(value));

/** The error object, as section 7 describes it. */
const objectChecks = [
  contractCheck(
    object,
    "7.object",
    "An error response has an object named error.",
    { needs: ["tx.create.accepted"], writes },
    async (kit) => {
      for (const reply of await refusals(kit))
        expect(errorOf(reply) !== undefined, "a JSON body with an object named error", describeReply(reply));
    },
  ),
  contractCheck("error.object.alone", "7.object", "error is the only top-level member.", row, async (kit) => {
    await eachError(kit, (_error, reply) => {
      const names = isObject(reply.json) ? Object.keys(reply.json) : [];
      expect(names.length === 1, "error as the only top-level member", `the members ${names.join(", ")}`);
    });
  }),
  contractCheck(
    "error.content-type",
    "7.object",
    "An error response is declared as JSON.",
    row,
    async (kit) => {
      await eachError(kit, (_error, reply) => {
        const type = reply.header("content-type") ?? "none";
        expect(
          /^application\/([\w.-]+\+)?json\b/i.test(type),
          "a JSON content type",
          `the content type ${type}`,
        );
      });
    },
  ),
  contractCheck("error.status", "1.errors", "An error is not answered with 200 or 202.", row, async (kit) => {
    await eachError(kit, (_error, reply) => {
      expect(
        reply.status >= 400,
        "a status that does not mean success for an error",
        `status ${reply.status} with an error object`,
      );
    });
  }),
  contractCheck("error.code", "7.code", "error.code is a string.", row, async (kit) => {
    await eachError(kit, ({ code }) => {
      expect(typeof code === "string" && code !== "", "a string as error.code", show(code));
    });
  }),
  contractCheck(
    "error.code.form",
    "7.code",
    "error.code is in upper snake case.",
    { ...row, needs: ["error.code"] },
    async (kit) => {
      await eachError(kit, ({ code }) => {
        expect(
          /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(String(code)),
          "error.code in upper snake case",
          show(code),
        );
      });
    },
  ),
  contractCheck(
    "error.code.stable",
    "7.code",
    "The same mistake has the same error.code, so that a program can act on it.",
    { ...row, needs: ["error.code.form", "key.required"] },
    async (kit) => {
      const first = errorOf((await withoutKey(kit)).reply)?.["code"];
      const second = errorOf((await kit.create({ key: null })).reply)?.["code"];
      expect(first === second, `error.code ${show(first)} for a request without a key`, show(second));
    },
  ),
  contractCheck("error.message", "7.message", "error.message is a string.", row, async (kit) => {
    await eachError(kit, ({ message }) => {
      expect(
        typeof message === "string" && message.trim() !== "",
        "a string as error.message",
        show(message),
      );
    });
  }),
  contractCheck("error.request-id", "7.request-id", "error.request_id is present.", row, async (kit) => {
    await eachError(kit, ({ request_id: id }) => {
      expect(id !== undefined && id !== null && id !== "", "error.request_id", show(id));
    });
  }),
  contractCheck(
    "error.request-id.string",
    "7.request-id",
    "error.request_id is a string.",
    { ...row, needs: ["error.request-id"] },
    async (kit) => {
      await eachError(kit, ({ request_id: id }) => {
        expect(typeof id === "string", "a string as error.request_id", `a ${typeof id}: ${show(id)}`);
      });
    },
  ),
  contractCheck(
    "error.request-id.unique",
    "7.request-id",
    "error.request_id differs from request to request.",
    { ...row, needs: ["error.request-id"] },
    async (kit) => {
      const replies = await refusals(kit);
      replies.push((await kit.create({ key: null, fields: { amount: 1 } })).reply);
      const ids = replies.filter(isRefusal).map((reply) => errorOf(reply)?.["request_id"]);
      expect(
        new Set(ids).size === ids.length,
        "a request_id of its own for each request",
        `${ids.map(show).join(", ")}`,
      );
    },
  ),
];

/** Failures that often leave an implementation's own error handling, each with the check that shows that it is one. */
const kinds: readonly { name: string; what: string; needs: string[]; make: (kit: Kit) => Promise<Reply> }[] =
  [
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

const kindChecks: readonly Check[] = kinds.flatMap(({ name, what, needs, make }) => {
  const refused = async (kit: Kit) => {
    const reply = await make(kit);
    if (!isRefusal(reply)) throw new NotOffered(`The target does not refuse ${what}.`);
    return reply;
  };
  return [
    contractCheck(
      `error.${name}.object`,
      "1.errors",
      `The refusal of ${what} has an error object.`,
      { needs: [object, ...needs], writes },
      async (kit) => {
        const reply = await refused(kit);
        const error = errorOf(reply);
        expect(error !== undefined, `an error object for ${what}`, describeReply(reply));
        expect(
          typeof error["code"] === "string" && typeof error["message"] === "string",
          `code and message for ${what}`,
          describeReply(reply),
        );
      },
    ),
    contractCheck(
      `error.${name}.request-id`,
      "7.request-id",
      `The refusal of ${what} has a request_id.`,
      { needs: [`error.${name}.object`, "error.request-id.string"], writes },
      async (kit) => {
        const id = errorOf(await refused(kit))?.["request_id"];
        expect(typeof id === "string" && id !== "", `a request_id for ${what}`, show(id));
      },
    ),
  ];
});

export const errorChecks: readonly Check[] = [...objectChecks, ...kindChecks];
