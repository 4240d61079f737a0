import { contractCheck, expect, fail } from "../../engine/check.js";
import { membersOf } from "../../engine/kit.js";
import { showValue } from "../../engine/name-value.js";
import { describeReply } from "../../http/reply.js";
import { eachCheck as each, settledTransaction, showTransaction } from "../scenarios.js";
import { expectMembersKept } from "../shown-members.js";
import { stateOf } from "../transaction-state.js";
import { acceptedOtherwise } from "./run-transactions.js";

const writes = ["transaction"] as const;

/** Looks at what the other checks have seen, so it runs after them. */
export const everyTransactionChecks = [
  contractCheck(
    "tx.get.result-kept",
    "4.rule-4",
    "A state that was final at the beginning of the run is the same at its end, and so are the amount, the asset and the reference that were shown as they were sent.",
    {
      needs: ["tx.get.result-stays"],
      unlessFailed: ["key.repeat.unchanged", "tx.get.result-minute"],
      writes,
      atEnd: true,
    },
    async (kit) => {
      const settled = await settledTransaction(kit);
      const { id, reference, shown: before } = settled;
      const after = await showTransaction(kit, id);
      const shown = stateOf(kit.target, after);
      expect(
        shown === settled.state,
        `the final state ${settled.state} of ${settled.id} also at the end of the run`,
        `the state ${showValue(shown)}`,
      );
      const sent = membersOf(kit, reference);
      expectMembersKept(kit, { id, sent, before, how: "also at the end of the run" }, after);
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
