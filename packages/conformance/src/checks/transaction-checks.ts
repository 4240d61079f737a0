import { randomUUID } from "node:crypto";
import { alterId, idsLike } from "../engine/altered-ids.js";
import { contractCheck, expect, fail, NotOffered, Undecided } from "../engine/check.js";
import type { Attempt, Kit } from "../engine/kit.js";
import { describeValue, showValue } from "../engine/name-value.js";
import { percentEncode } from "../http/percent-encode.js";
import {
  describeReply,
  findUnreadableJson,
  isObject,
  isRefusal,
  type Reply,
  valueAt,
} from "../http/reply.js";
import { containsText } from "../webhooks/delivery-items.js";
import { withFittingKey, withFittingReference } from "./fitting-request.js";
import {
  awaitFinal,
  createTransaction,
  findId,
  isAccepted,
  foundCheck as read,
  requireId,
  resultCheck as result,
  settledTransaction,
  sharedTransaction,
  showTransaction,
  stateCheck as state,
} from "./scenarios.js";
import { createdInRun, expectMembersKept, expectOwn } from "./shown-members.js";
import {
  type FoundState,
  finalStatesIn,
  isEmptyBody,
  isFinal,
  isOfEnvelope,
  requireFinalStates,
  resultWordsIn,
  stateNames,
  stateOf,
  statePathOf,
} from "./transaction-state.js";

const admitted = "tx.create.admitted";
const accepted = "tx.create.accepted";
const identified = "tx.create.id";
const writes = ["transaction"] as const;
const finalReads = 3;

/** The first request of a run, by which the kit also finds out which keys and references are accepted. */
export const firstRequest = (kit: Kit) =>
  kit.fixture("accepted", (own) => {
    const replyOf = ({ reply }: Attempt) => reply;
    const send = () => withFittingKey(own, (key) => own.create({ key }), replyOf);
    return withFittingReference(own, send, replyOf);
  });

/** Accepting a transaction, and reading its state. */
export const transactionChecks = [
  contractCheck(admitted, "1.transactions", "A valid request is not refused.", { writes }, async (kit) => {
    const { reply } = await firstRequest(kit);
    for (const text of kit.session.earlyWarnings.splice(0)) kit.warn(text);
    const wanted = "status 202 for a valid request";
    expect(
      isAccepted(kit.target, reply),
      isRefusal(reply)
        ? `${wanted} (transaction, reference and key_length of the target file say what is sent)`
        : wanted,
      describeReply(reply),
    );
  }),
  contractCheck(
    accepted,
    "4.post-transactions",
    "A valid request is answered with 202.",
    { needs: [admitted], writes },
    async (kit) => {
      const { reply } = await firstRequest(kit);
      expect(reply.status === 202, "status 202", describeReply(reply));
      const unreadable = findUnreadableJson(reply);
      if (unreadable !== undefined)
        kit.warn(`The 202 has ${unreadable}. Its body is open, but clients cannot read such JSON.`);
    },
  ),
  contractCheck(
    "tx.create.not-final",
    "1.async",
    "The 202 does not contain a final outcome.",
    { needs: [accepted], writes },
    async (kit) => {
      const { reply } = await firstRequest(kit);
      const { target } = kit;
      requireFinalStates(target);
      const text = reply.json === undefined ? stateOf(target, reply) : undefined;
      if (text !== undefined && isFinal(target, text))
        fail("a 202 without a final state", `the final state ${text} in the 202`);
      const id = findId(target, reply)?.id;
      for (const found of finalStatesIn(reply.json, { names: stateNames(target), ...target })) {
        const shown = id === undefined ? undefined : await showTransaction(kit, id);
        if (!isOfEnvelope(target, found, shown)) refuseFinal(kit, found);
      }
      for (const found of resultWordsIn(reply.json, target)) {
        const shown = id === undefined ? undefined : await showTransaction(kit, id);
        // A status of success is usually that of the request, unless GET has the state there.
        const isOfRequest = /status$/.test(found.path) && found.path !== statePathOf(target, shown?.json);
        if (!isOfRequest && !isOfEnvelope(target, found, shown)) warnOfResult(kit, found);
      }
    },
  ),
  contractCheck(
    identified,
    "2.id",
    "The 202 has an id where the target file says, if it does.",
    { needs: [admitted], writes },
    async (kit) => {
      const { reply } = await firstRequest(kit);
      requireId(kit.target, reply);
    },
  ),
  contractCheck(
    "tx.create.id-is-string",
    "2.id",
    "An id in the body of the 202 is a string.",
    { needs: [identified], writes },
    async (kit) => {
      const { reply } = await firstRequest(kit);
      const found = findId(kit.target, reply);
      if (found === undefined) throw new NotOffered("The 202 shows no id, and need not.");
      expect(
        typeof found.raw === "string",
        "an id that is a string",
        `an id that is ${describeValue(found.raw)}`,
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
      const unreadable = findUnreadableJson(reply);
      if (unreadable !== undefined) fail("a body that can be read as JSON", unreadable, reply);
      if (stateOf(kit.target, reply) === undefined) refuseStateless(kit, reply);
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
    "4.rule-4",
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
          `the state ${showValue(shown)}`,
        );
      }
    },
  ),
  contractCheck(
    "tx.get.members-kept",
    "1.state",
    "What GET shows of the amount, asset and reference before the result is the same when the result is shown.",
    { needs: [result], writes },
    async (kit) => {
      const own = await createTransaction(kit);
      const before = await showTransaction(kit, own.id);
      const { shown } = await awaitFinal(kit, own.id);
      const sent = { ...kit.target.transaction, reference: own.reference };
      expectMembersKept(kit, { id: own.id, sent, before, how: "also when its result is shown" }, shown);
    },
  ),
  contractCheck(
    "tx.get.own",
    "1.state",
    "GET shows the transaction whose id was asked for.",
    { needs: [read], unlessFailed: [state, "tx.get.members-kept"], writes },
    async (kit) => {
      const first = await createTransaction(kit);
      const second = await createTransaction(kit);
      for (const one of [first, second]) expectOwn(kit, await showTransaction(kit, one.id), one);
    },
  ),
  contractCheck(
    "tx.get.unknown",
    "1.state",
    "An id that no transaction has is refused.",
    { needs: [admitted], unlessFailed: [read], writes },
    async (kit) => {
      const { reply, id } = await unknownTransaction(kit);
      expect(isRefusal(reply), `a refusal of the unknown id ${id}`, describeReply(reply));
    },
  ),
  contractCheck(
    "tx.get.exact",
    "1.state",
    "A transaction is not shown for an id that is only like its own.",
    { needs: [read], unlessFailed: ["tx.get.own", "tx.get.unknown"], writes },
    async (kit) => {
      const own = await sharedTransaction(kit);
      for (const id of idsLike(own.id, idsOf(kit))) {
        const reply = await kit.send("GET", `/v1/transactions/${percentEncode(id)}`);
        const isOwn = containsText(reply.json, own.id) || containsText(reply.json, own.reference);
        expect(
          isRefusal(reply) || !isOwn,
          `nothing about the transaction ${own.id} from GET of ${id}, which no response has shown`,
          describeReply(reply),
        );
      }
      const padded = await kit.send("GET", `/v1/transactions/%20${percentEncode(own.id)}%20`);
      if (padded.status === 200 && !isRefusal(padded))
        kit.warn(
          `GET shows ${own.id} also for an id with a space before and after it. The contract does not say how ids are compared; a client takes these for two.`,
        );
    },
  ),
];

/** Those that responses have shown so far. */
const idsOf = (kit: Kit) => new Set(createdInRun(kit).flatMap(({ id }) => id ?? []));

/** Only a member that is called as states are is surely one. */
export function refuseFinal(kit: Kit, { state, path, isNamed, isHeader }: FoundState): void {
  const place = isHeader === true ? `in the header ${path}` : `at ${path}`;
  if (isNamed) fail("a 202 without a final state", `the final state ${state} in the 202, ${place}`);
  kit.warn(`The 202 has ${state} at ${path}, which is the name of a final state. A 202 must not show one.`);
}

/** The words for results are open, so what only sounds like one is no failure. */
function warnOfResult(kit: Kit, { state, path }: FoundState): void {
  kit.warn(
    `The 202 has ${state} at ${path}. If that is the outcome of the transaction, a 202 must not show it: add ${state} to final_states of the target file, and it is a failure.`,
  );
}

/** The name of the state is open: only a body with nothing in it, or without what the target file names, is a failure. */
function refuseStateless({ target }: Kit, reply: Reply): never {
  const { state } = target.shown;
  if (state !== undefined) {
    const value = valueAt(reply.json, state);
    if (typeof value === "boolean")
      throw new Undecided(
        `GET shows a boolean at ${state}, where shown.state of the target file says. Fields are open, and the kit compares states that are strings or numbers: name one in shown.state. Seen ${describeReply(reply)}`,
      );
    fail(
      `a state in the body at ${state}, where shown.state of the target file says: a string or a number`,
      value === undefined ? describeReply(reply) : `${describeValue(value)} in ${describeReply(reply)}`,
    );
  }
  if (isEmptyBody(reply)) fail("a state in the body", describeReply(reply));
  const members = isObject(reply.json) ? `; its members are ${Object.keys(reply.json).join(", ")}` : "";
  throw new Undecided(
    `GET shows no string and no number named state or status${members}. The name of the state is open: name its place in shown.state of the target file. Seen ${describeReply(reply)}`,
  );
}

/** GET of an id that no transaction has. */
export const unknownTransaction = (kit: Kit) =>
  kit.fixture("unknown transaction", async (own) => {
    const known = findId(own.target, (await firstRequest(own)).reply)?.id;
    const id = known === undefined ? randomUUID() : alterId(known, idsOf(own));
    return { id, reply: await own.send("GET", `/v1/transactions/${percentEncode(id)}`) };
  });
