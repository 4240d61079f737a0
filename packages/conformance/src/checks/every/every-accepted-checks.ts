import { contractCheck, fail } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import type { Reply } from "../../http/reply.js";
import { expectNewKey, newKeyCheck } from "../new-key.js";
import { findId } from "../scenarios.js";
import { refuseFinal } from "../transaction-checks.js";
import { finalStatesIn, isOfEnvelope, requireFinalStates, stateNames } from "../transaction-state.js";
import { concurrentAcceptances, firstAcceptances, isForPolicy, readsOf } from "./run-transactions.js";

/** Looks at every response of the run that accepts a transaction, because a check looks at few of them. */

const writes = ["transaction"] as const;

/** Headers that can only be about the transaction; those that end with `status` can be about the request. */
const isOutcomeHeader = (name: string) => /(^|-)(state|outcome)$/i.test(name);

export const everyAcceptedChecks = [
  contractCheck(
    "tx.create.every-not-final",
    "1.async",
    "No 202 of the run contains a final outcome, also in a header.",
    { needs: ["tx.create.not-final"], writes, atEnd: true },
    async (kit) => {
      requireFinalStates(kit.target);
      const replies = firstAcceptances(kit).filter((reply) => !isForPolicy(kit, reply.exchange));
      // What the first one has, and GET has shown to be no state, is none in the others.
      const usual = new Set(finalsIn(kit, replies[0]).map(({ path }) => path));
      for (const reply of replies)
        for (const found of finalsIn(kit, reply)) {
          if (usual.has(found.path) || isOfEnvelope(kit.target, found, lastRead(kit, reply))) continue;
          kit.cite([reply.exchange]);
          refuseFinal(kit, found);
        }
      for (const reply of replies) expectNoHeader(kit, reply);
    },
  ),
  contractCheck(
    newKeyCheck,
    "4.rule-2",
    "No request of the run with a new key was answered with the transaction of another key.",
    {
      needs: ["tx.create.id"],
      unlessFailed: [
        "tx.create.together",
        "key.case",
        "key.whole",
        "key.punctuation",
        "key.spelling",
        "key.distinct",
      ],
      writes,
      atEnd: true,
    },
    async (kit) => {
      for (const reply of [...firstAcceptances(kit), ...concurrentAcceptances(kit)]) expectNewKey(kit, reply);
    },
  ),
];

const finalsIn = ({ target }: Kit, reply: Reply | undefined) =>
  finalStatesIn(reply?.json, { names: stateNames(target), ...target });

function lastRead(kit: Kit, reply: Reply): Reply | undefined {
  const id = findId(kit.target, reply)?.id;
  return id === undefined ? undefined : readsOf(kit, id).findLast(({ status }) => status === 200);
}

function expectNoHeader({ target }: Kit, reply: Reply): void {
  for (const [name, value] of reply.exchange.response?.headers ?? [])
    if (isOutcomeHeader(name) && target.finalStates.includes(value))
      fail(
        "a 202 without a final state",
        `the final state ${value} in the 202, in the header ${name}`,
        reply,
      );
}
