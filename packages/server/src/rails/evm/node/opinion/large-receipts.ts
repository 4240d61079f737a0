import type { RpcPool } from "../../rpc/rpc-pool.js";
import type { ReceiptReader } from "../receipts.js";
import { blockLogsQuestion, type NodeLog } from "../transfer-logs.js";
import { type Claim, isShown } from "./claims.js";
import { MisreadError } from "./misread-error.js";
import { requiredOpinions } from "./weigh-opinions.js";

/** What a node that answers says of a claim: undefined if it does not have all of the transaction. */
export interface Said {
  readonly name: string;
  readonly value: boolean | undefined;
}

/** What each node says about a claim. */
export interface Heard {
  readonly claim: Claim;
  readonly said: Said[];
  /** How many nodes do not give the receipt because it is too large. */
  refusals: number;
}

/**
 * Somebody can fill a receipt with logs, until too few nodes give it. What it shows of tokens is in the logs of its block, which are asked for by
 * their contracts. What it shows of a payment is not: this one payment cannot be confirmed, and no other waits for it.
 */
export async function hearOfLarge(
  pool: RpcPool,
  heard: readonly Heard[],
  giveUp: ReceiptReader["giveUp"],
): Promise<void> {
  const nodeCount = pool.endpoints.length;
  const required = requiredOpinions(0, nodeCount);
  const open = heard.filter(({ said, refusals }) => refusals > 0 && said.length < required);
  const isOfLogs = ({ claim: { isOwn, coin } }: Heard) => !isOwn && coin === undefined;
  const lost = open
    .filter((one) => !isOfLogs(one) && one.said.length + one.refusals >= required)
    .filter((one) => giveUp(one.claim.hash, one.said.length + one.refusals === nodeCount));
  if (lost[0] !== undefined)
    throw new MisreadError(
      `The receipt of ${lost[0].claim.hash} is too large for all nodes but one.`,
      lost[0].claim.blockHash,
    );
  const ofLogs = open.filter(isOfLogs);
  const blocks = new Map(ofLogs.map(({ claim }) => [claim.blockHash, claim.tokens]));
  for (const [blockHash, tokens] of blocks) {
    const some = ofLogs.filter(({ claim }) => claim.blockHash === blockHash);
    for (const { name, answers } of await pool.askEach([blockLogsQuestion(blockHash, tokens)])) {
      const [answer] = "unavailable" in answers ? [] : answers;
      const value = answer !== undefined && "value" in answer ? answer.value : undefined;
      if (value !== undefined) for (const one of some) hearLogs(one, name, value);
    }
  }
}

function hearLogs({ claim, said }: Heard, name: string, logsOfBlock: readonly NodeLog[]): void {
  if (said.some((one) => one.name === name)) return;
  const { hash } = claim;
  const logs = logsOfBlock.filter((log) => log.hash === hash);
  const receipt = { hash, success: logs.length > 0, fee: 0n, logs };
  said.push({ name, value: isShown(claim, receipt, undefined) });
}
