import type { Estimate, PaymentDraft } from "../../../app/chain/chain-node.js";
import { toQuantity } from "../keccak.js";
import { isRevert } from "../rpc/rpc-error.js";
import { type Answer, AnswerFault, type Question, type RpcPool } from "../rpc/rpc-pool.js";
import { transferCall } from "../transaction/transfer-call.js";
import { dataFeeQuestion, operatorFeeQuestion, withDataFeeMargin } from "./data-fee.js";
import { agreedAmount } from "./opinion/agreed-amount.js";
import { readData, readQuantity } from "./read-values.js";

export interface EstimateDeps {
  readonly pool: RpcPool;
  readonly hasDataFee: boolean;
  /** The newest block that two nodes have: one that does not have it yet must not judge whether a payment is possible. */
  readonly newestNumber: () => number | undefined;
}

/** What every transaction needs. */
const plainGas = 21_000n;
/** A transfer of coins to an address without code needs 21,000, and EDR says one more. */
const plainGasMax = 21_100n;
/**
 * What a destination may use. A wallet that is a contract needs 30,000 to 100,000, and rollups that count their data as gas some hundred
 * thousand. It also bounds what a node executes for an estimate, so that a hostile contract does not delay the payments to others.
 */
const gasLimitMax = 3_000_000n;

/** What payments need, and whether they would succeed, judged by executing them at the newest block. */
export function createEstimate({ pool, hasDataFee, newestNumber }: EstimateDeps) {
  async function estimate(
    drafts: readonly PaymentDraft[],
    manner: "foreign" | "brief",
  ): Promise<readonly Estimate[]> {
    const number = newestNumber();
    const block = number === undefined ? "latest" : toQuantity(number);
    const tokenDrafts = drafts.filter(({ contract }) => contract !== null);
    const questions = [
      ...drafts.map((draft) => gasQuestion(draft, block)),
      ...tokenDrafts.map((draft) => returnQuestion(draft, block)),
    ];
    const answers = await pool.askAll(questions, manner);
    const returns = new Map(tokenDrafts.map((draft, index) => [draft, answers[drafts.length + index]]));
    const gas = drafts.map((_, index) => answers[index] as Answer<bigint>[]);
    const atLatest = await askLatest(
      drafts.filter((_, index) => isOfOne(gas[index] ?? [])),
      manner,
    );
    const estimates = drafts.map((draft, index) =>
      judge(
        gas[index] ?? [],
        (returns.get(draft) ?? [{ value: true }]) as Answer<true>[],
        atLatest.get(draft) ?? gas[index] ?? [],
        Math.min(2, pool.endpoints.length),
      ),
    );
    return hasDataFee ? await addDataFees(pool, drafts, estimates) : estimates;
  }

  /** A node that does not have the block, or no longer its state, still says what a payment needs at its own newest one. */
  async function askLatest(
    drafts: readonly PaymentDraft[],
    manner: "foreign" | "brief",
  ): Promise<ReadonlyMap<PaymentDraft, Answer<bigint>[]>> {
    if (drafts.length === 0) return new Map();
    const answers = await pool.askAll(
      drafts.map((draft) => gasQuestion(draft, "latest")),
      manner,
    );
    return new Map(drafts.map((draft, index) => [draft, [...(answers[index] ?? [])]]));
  }

  return async (drafts: readonly PaymentDraft[], patience?: "brief"): Promise<readonly Estimate[]> =>
    drafts.length === 0 ? [] : await estimate(drafts, patience ?? "foreign");
}

/** Whether one node alone says what a payment needs, although others have answered. */
function isOfOne(gas: readonly Answer<bigint>[]): boolean {
  return valuesOf(gas).length === 1 && gas.some((answer) => "error" in answer && !isRevert(answer.error));
}

/**
 * What all nodes that answer say. A payment fails only if all of them refuse it, and so many do: a single one of several may be wrong while the
 * others are slow. Neither does a single one decide how much gas it gets: `needs` can be of other blocks than `gas`.
 */
function judge(
  gas: readonly Answer<bigint>[],
  call: readonly Answer<true>[],
  needs: readonly Answer<bigint>[],
  refusalsMin: number,
): Estimate {
  for (const answers of [call, gas] as readonly (readonly Answer<unknown>[])[]) {
    if (answers.length === 0) return { refused: "UNAVAILABLE" };
    if (valuesOf(answers).length > 0) continue;
    const isRefused =
      answers.length >= refusalsMin &&
      answers.every((answer) => !("error" in answer) || isRevert(answer.error));
    return { refused: isRefused ? "WOULD_REVERT" : "UNAVAILABLE" };
  }
  const needed = agreedAmount(valuesOf(needs));
  return needed === undefined ? { refused: "UNAVAILABLE" } : { gasLimit: withMargin(needed), dataFee: 0n };
}

function valuesOf<T>(answers: readonly Answer<T>[]): T[] {
  return answers.flatMap((answer) => ("value" in answer && answer.value !== undefined ? [answer.value] : []));
}

/** A quarter more than was needed now: contracts use more when their state has changed. */
function withMargin(gas: bigint): bigint {
  return gas <= plainGasMax ? gas : gas + gas / 4n;
}

function executionOf({ from, contract, destination, amount }: PaymentDraft) {
  const gas = toQuantity(gasLimitMax);
  return contract === null
    ? { from, to: destination, value: toQuantity(amount), gas }
    : { from, to: contract, data: transferCall(destination, amount), gas };
}

function gasQuestion(draft: PaymentDraft, block: string): Question<bigint> {
  return {
    method: "eth_estimateGas",
    params: [executionOf(draft), block],
    read: readGas,
  };
}

/** No transaction needs less than the least, and no node was allowed more than the most. */
function readGas(result: unknown): bigint {
  const gas = readQuantity(result, "the estimate");
  if (gas < plainGas || gas > gasLimitMax)
    throw new AnswerFault(`the estimate is ${gas}, which is not from ${plainGas} to ${gasLimitMax}`);
  return gas;
}

const trueWord = `0x${"1".padStart(64, "0")}`;

/**
 * Whether the transfer of a token is accepted: tokens return true or nothing, and one that returns false has moved nothing. A node that says
 * so is treated as one that has no answer, so that a payment fails only if all nodes that answer say so.
 */
function returnQuestion(draft: PaymentDraft, block: string): Question<true> {
  return {
    method: "eth_call",
    params: [executionOf(draft), block],
    read: (result) => {
      const data = readData(result, "the result of the call");
      return draft.contract === null || data === "0x" || data === trueWord ? true : undefined;
    },
  };
}

async function addDataFees(
  pool: RpcPool,
  drafts: readonly PaymentDraft[],
  estimates: readonly Estimate[],
): Promise<readonly Estimate[]> {
  const [coin, token] = await pool.askAll([dataFeeQuestion(false), dataFeeQuestion(true)]);
  const operator = await pool.askAll(
    estimates.map((estimate) => operatorFeeQuestion("gasLimit" in estimate ? estimate.gasLimit : 0n)),
  );
  return estimates.map((estimate, index) => {
    if (!("gasLimit" in estimate)) return estimate;
    const dataFee = agreedAmount(valuesOf(drafts[index]?.contract === null ? coin : token));
    const operatorFee = agreedAmount((operator[index] ?? []).flatMap(operatorFeeOf));
    if (dataFee === undefined || operatorFee === undefined) return { refused: "UNAVAILABLE" };
    return { ...estimate, dataFee: withDataFeeMargin(dataFee + operatorFee) };
  });
}

/** Oracles from before the fee was introduced do not know it. */
function operatorFeeOf(answer: Answer<bigint>): bigint[] {
  if ("value" in answer) return answer.value === undefined ? [] : [answer.value];
  return isRevert(answer.error) ? [0n] : [];
}
