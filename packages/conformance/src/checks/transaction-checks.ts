import { contractCheck, expect, NotOffered } from "../engine/check.js";
import { describeReply, isRefusal } from "../http/reply.js";
import {
  alterId,
  createTransaction,
  expectAccepted,
  findId,
  isFinal,
  requireId,
  settledTransaction,
  sharedTransaction,
  shownMember,
  showTransaction,
  stateOf,
} from "./scenarios.js";

const create = "tx.create.accepted";
const identified = "tx.create.id";
const read = "tx.get.found";
const state = "tx.get.state";
const result = "tx.get.result";
const writes = ["transaction"] as const;
const finalReads = 3;

/** Accepting a transaction, and reading its state. */
export const transactionChecks = [
  contractCheck(
    create,
    "4.post-transactions",
    "A valid request is answered with 202.",
    { writes },
    async (kit) => {
      const { reply } = await kit.fixture("accepted", (own) => own.create());
      expectAccepted(reply);
    },
  ),
  contractCheck(
    "tx.create.not-final",
    "1.async",
    "The 202 does not contain a final outcome.",
    { needs: [create], writes },
    async (kit) => {
      const { reply } = await kit.fixture("accepted", (own) => own.create());
      const shown = stateOf(kit.target, reply);
      if (shown === undefined) return;
      expect(
        !isFinal(kit.target, shown),
        "a 202 without a final state",
        `the final state ${shown} in the 202`,
      );
    },
  ),
  contractCheck(
    identified,
    "2.id",
    "The 202 has an id where the target file says, if it does.",
    { needs: [create], writes },
    async (kit) => {
      const { reply } = await kit.fixture("accepted", (own) => own.create());
      requireId(kit.target, reply);
    },
  ),
  contractCheck(
    "tx.create.id-is-string",
    "2.id",
    "An id in the body of the 202 is a string.",
    { needs: [identified], writes },
    async (kit) => {
      const { reply } = await kit.fixture("accepted", (own) => own.create());
      const found = findId(kit.target, reply);
      if (found === undefined) throw new NotOffered("The 202 shows no id, and need not.");
      expect(
        typeof found.raw === "string",
        "an id that is a string",
        `an id that is a ${typeof found.raw}: ${found.id}`,
      );
    },
  ),
  contractCheck(
    read,
    "4.get-transaction",
    "An accepted transaction is found by its id, with status 200.",
    { needs: [identified], writes },
    async (kit) => {
      await showTransaction(kit, (await sharedTransaction(kit)).id);
    },
  ),
  contractCheck(
    state,
    "2.id",
    "The body of GET is the transaction's state.",
    { needs: [read], writes },
    async (kit) => {
      const { id } = await sharedTransaction(kit);
      const reply = await showTransaction(kit, id);
      const shown = stateOf(kit.target, reply);
      expect(
        shown !== undefined,
        kit.target.shown.state === undefined
          ? "a state in the body, under the name state or status; shown.state of the target file can name another place"
          : `a state in the body at ${kit.target.shown.state}, where shown.state of the target file says`,
        describeReply(reply),
      );
    },
  ),
  contractCheck(
    result,
    "4.rule-4",
    "The eventual result can be read with GET.",
    { needs: [state], writes },
    async (kit) => {
      await settledTransaction(kit);
    },
  ),
  contractCheck(
    "tx.get.result-stays",
    "3.state",
    "A final state does not change any more.",
    { needs: [result], writes },
    async (kit) => {
      const settled = await settledTransaction(kit);
      for (let reads = 0; reads < finalReads; reads += 1) {
        await kit.sleep(kit.target.timing.quietMs / finalReads);
        const shown = stateOf(kit.target, await showTransaction(kit, settled.id));
        expect(
          shown === settled.state,
          `the final state ${settled.state} at every later GET`,
          `the state ${shown}`,
        );
      }
    },
  ),
  contractCheck(
    "tx.get.own",
    "1.state",
    "GET shows the transaction whose id was asked for.",
    { needs: [read], writes },
    async (kit) => {
      const first = await createTransaction(kit);
      const second = await createTransaction(kit);
      for (const { id, reference } of [first, second]) {
        const { json } = await showTransaction(kit, id);
        const shown = ["reference", "id"].flatMap((name) => {
          try {
            return [[name, shownMember(kit.target, json, name as "id" | "reference")] as const];
          } catch (error) {
            if (error instanceof NotOffered) return [];
            throw error;
          }
        });
        if (shown.length === 0)
          throw new NotOffered("GET shows neither the id nor the reference, and need not.");
        const wanted: Record<string, string> = { id, reference };
        for (const [name, value] of shown)
          expect(
            String(value) === wanted[name],
            `the ${name} ${wanted[name]} from GET of ${id}`,
            `the ${name} ${String(value)}: another transaction`,
          );
      }
    },
  ),
  contractCheck(
    "tx.get.unknown",
    "1.state",
    "An id that no transaction has is not answered with 200.",
    { needs: [read], writes },
    async (kit) => {
      const { reply, id } = await unknownTransaction(kit);
      expect(
        isRefusal(reply) && reply.status !== 200,
        `a refusal of the unknown id ${id}`,
        describeReply(reply),
      );
    },
  ),
];

/** GET of an id that no transaction has. */
export const unknownTransaction = (kit: Parameters<typeof sharedTransaction>[0]) =>
  kit.fixture("unknown transaction", async (own) => {
    const id = alterId((await sharedTransaction(own)).id);
    return { id, reply: await own.send("GET", `/v1/transactions/${encodeURIComponent(id)}`) };
  });
