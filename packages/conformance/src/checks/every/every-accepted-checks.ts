import { contractCheck } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import type { Reply } from "../../http/reply.js";
import { expectNewKey, newKeyCheck } from "../keys/new-key.js";
import { findId } from "../scenarios.js";
import { refuseFinal } from "../transaction-checks.js";
import {
  type FoundState,
  finalStatesIn,
  isOfEnvelope,
  requireFinalStates,
  stateNames,
} from "../transaction-state.js";
import {
  acceptancesByKey,
  concurrentAcceptances,
  firstAcceptances,
  isForPolicy,
  readsOf,
} from "./run-transactions.js";

/** Looks at every response of the run that accepts a transaction, because a check looks at few of them. */

const writes = ["transaction"] as const;

/** Headers that can only be about the transaction; those that end with `status` can be about the request. */
const isOutcomeHeader = (name: string) => /(^|-)(state|outcome)$/i.test(name);

export const everyAcceptedChecks = [
  contractCheck(
    "tx.create.every-not-final",
    "1.async",
    "No 202 of the run contains a final outcome, also in a header or if requests were sent together.",
    { needs: ["tx.create.not-final"], writes, atEnd: true },
    async (kit) => {
      requireFinalStates(kit.target);
      const isJudged = (reply: Reply) => !isForPolicy(kit, reply.exchange);
      const accepted = acceptancesByKey(kit).map(({ first, repeated }) => ({
        first: first.filter(isJudged),
        repeated: repeated.filter(isJudged),
      }));
      // What the first one has, and GET has shown to be no state, is none in the others.
      const [earliest] = accepted.flatMap(({ first }) => first);
      const usual = new Set(finalsIn(kit, earliest).map(({ path }) => path));
      const outcomesOf = (reply: Reply) => [
        ...finalsIn(kit, reply).filter(
          (found) => !usual.has(found.path) && !isOfEnvelope(kit.target, found, lastRead(kit, reply)),
        ),
        ...finalsInHeaders(kit, reply),
      ];
      const later: Reply[] = [];
      for (const { first, repeated } of accepted) {
        const found = first.map(outcomesOf);
        // One of those that were sent together is the first; the others may show what has become of it.
        const isEach = found.every((each) => each.length > 0);
        for (const [at, outcomes] of isEach ? found.entries() : []) {
          kit.cite(first.slice(at, at + 1).map(({ exchange }) => exchange));
          for (const outcome of outcomes) refuseFinal(kit, outcome);
        }
        const others = isEach ? repeated : [...first, ...repeated];
        later.push(...others.filter((reply) => reply.status === 202 && outcomesOf(reply).length > 0));
      }
      warnOfRepeated(kit, later);
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

function finalsInHeaders({ target }: Kit, { exchange }: Reply): FoundState[] {
  return (exchange.response?.headers ?? []).flatMap(([name, state]) =>
    isOutcomeHeader(name) && target.finalStates.includes(state)
      ? [{ path: name, state, isNamed: true, isHeader: true }]
      : [],
  );
}

/** How a repetition is answered is open, so what it shows is no failure. */
function warnOfRepeated(kit: Kit, [first, ...more]: readonly Reply[]): void {
  if (first === undefined) return;
  kit.cite([first.exchange]);
  const others = more.length > 0 ? `, and ${more.length} more` : "";
  kit.warn(
    `The 202 of a repeated request has a final state (exchange ${first.exchange.index}${others}). The contract does not say how a repetition is answered, but a 202 must not show a final outcome; 200 may.`,
  );
}
