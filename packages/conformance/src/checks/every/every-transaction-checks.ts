import { contractCheck, expect, fail } from "../../engine/check.js";
import { showValue } from "../../engine/name-value.js";
import { describeReply } from "../../http/reply.js";
import { eachCheck as each, settledTransaction, showTransaction } from "../scenarios.js";
import { stateOf } from "../transaction-state.js";
import { acceptedOtherwise } from "./run-transactions.js";

const writes = ["transaction"] as const;

/** Looks at what the other checks have seen, so it runs after them. */
export const everyTransactionChecks = [
  contractCheck(
    "tx.get.result-kept",
    "4.rule-4",
    "A state that was final at the beginning of the run is the same at its end.",
    {
      needs: ["tx.get.result-stays"],
      unlessFailed: ["key.repeat.unchanged", "tx.get.result-minute"],
      writes,
      atEnd: true,
    },
    async (kit) => {
      const settled = await settledTransaction(kit);
      const shown = stateOf(kit.target, await showTransaction(kit, settled.id));
      expect(
        shown === settled.state,
        `the final state ${settled.state} of ${settled.id} also at the end of the run`,
        `the state ${showValue(shown)}`,
      );
    },
  ),
  contractCheck(
    each,
    "4.post-transactions",
    "Every other valid request of the run is accepted with 202 too.",
    { needs: ["tx.create.accepted"], writes, atEnd: true },
    async (kit) => {
      const [first, ...more] = acceptedOtherwise(kit);
      if (first === undefined) return;
      kit.cite([first.exchange]);
      const others = more.length > 0 ? `, and ${more.length} more` : "";
      fail("status 202 for each valid request", `${describeReply(first)}${others}`, first);
    },
  ),
];
