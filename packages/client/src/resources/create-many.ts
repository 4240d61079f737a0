import { BursarError, type Outcome } from "../errors/bursar-error.js";
import { transientCodes } from "../generated/error-codes.js";
import type {
  CreateTransactionBody,
  Transaction,
  TransactionBatchItem,
  TransactionBatchItemResult,
} from "../generated/schemas.js";
import type { CallOptions } from "../transport/options.js";
import { randomKey } from "../transport/random-key.js";
import { sleep } from "../transport/runtime.js";
import type { Transport } from "../transport/transport.js";

/** A payment of `createMany`; without a key a random one is generated. */
export type ManyItem = CreateTransactionBody & { idempotency_key?: string };

/** What came of one payment. */
export type ManyResult = { idempotencyKey: string; reference: string } & (
  | { status: "accepted" | "replayed"; transaction: Transaction; error?: undefined }
  | { status: "error"; transaction?: undefined; error: BursarError }
);

const itemsMax = 1000;
/** The service takes 4 MiB; a little is left for what surrounds the items. */
const bytesMax = 4 * 1024 * 1024 - 64;
const roundsMax = 4;
const firstPauseMs = 500;

type Source = Iterable<ManyItem> | AsyncIterable<ManyItem>;

export function createMany(transport: Transport) {
  return async function* results(
    items: Source,
    options?: CallOptions,
  ): AsyncGenerator<ManyResult, void, undefined> {
    for await (const batch of batchesOf(items)) yield* await sendBatch(transport, batch, options);
  };
}

async function* batchesOf(items: Source): AsyncGenerator<TransactionBatchItem[], void, undefined> {
  let batch: TransactionBatchItem[] = [];
  let bytes = 0;
  for await (const given of items) {
    const item = { ...given, idempotency_key: given.idempotency_key ?? randomKey() };
    const size = new TextEncoder().encode(JSON.stringify(item)).length + 1;
    if (batch.length === itemsMax || (batch.length > 0 && bytes + size > bytesMax)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Sends a batch, and then, a few times, those of its items that may still succeed. */
async function sendBatch(
  transport: Transport,
  batch: readonly TransactionBatchItem[],
  options: CallOptions | undefined,
): Promise<ManyResult[]> {
  const { runtime } = transport;
  const results = new Map<TransactionBatchItem, ManyResult>();
  let open = [...batch];
  for (let round = 1; open.length > 0; round++) {
    const sent = await sendOnce(transport, open, options);
    for (const [at, item] of open.entries())
      results.set(item, resultOf(item, sent(at), results.get(item), round));
    const isLast = round > roundsMax || sent(0) instanceof BursarError;
    open = isLast ? [] : open.filter((item) => mayStillSucceed(results.get(item)));
    if (open.length > 0)
      // If it is aborted, the next request says so.
      await sleep(runtime, runtime.random() * firstPauseMs * 2 ** round, options?.signal).catch(
        () => undefined,
      );
  }
  return batch.map((item) => results.get(item) as ManyResult);
}

function mayStillSucceed(result: ManyResult | undefined): boolean {
  return result?.status === "error" && transientCodes.includes(result.error.code);
}

/** What the service says about each item, or the error of the whole batch, which was retried already. */
async function sendOnce(
  transport: Transport,
  transactions: TransactionBatchItem[],
  options: CallOptions | undefined,
): Promise<(at: number) => TransactionBatchItemResult | BursarError | undefined> {
  try {
    const input = { body: { transactions }, repeatable: true } as const;
    const { data } = await transport.call("POST /v1/transactions/batch", input, options);
    return (at) => data[at];
  } catch (error) {
    if (error instanceof BursarError) return () => error;
    throw error;
  }
}

function resultOf(
  { idempotency_key: idempotencyKey, reference }: TransactionBatchItem,
  given: TransactionBatchItemResult | BursarError | undefined,
  earlier: ManyResult | undefined,
  attempts: number,
): ManyResult {
  const isError = given instanceof BursarError || given?.error !== undefined;
  if (!isError && given?.transaction !== undefined && given.status !== "error")
    return { idempotencyKey, reference, status: given.status, transaction: given.transaction };
  const fields = given instanceof BursarError ? fieldsOf(given) : fieldsOfItem(given);
  // Once an attempt may have had its effect, a later refusal does not undo that.
  const outcome: Outcome = earlier?.error?.outcome === "unknown" ? "unknown" : fields.outcome;
  return {
    idempotencyKey,
    reference,
    status: "error",
    error: new BursarError({ ...fields, outcome, attempts, idempotencyKey }),
  };
}

function fieldsOf({ code, message, outcome, status, requestId, details, retryAfterMs, cause }: BursarError) {
  return { code, message, outcome, status, requestId, details, retryAfterMs, cause };
}

function fieldsOfItem(item: TransactionBatchItemResult | undefined) {
  if (item?.error === undefined)
    return {
      code: "RESPONSE_INVALID",
      message: "The response has no result for this payment.",
      outcome: "unknown",
    } as const;
  const { code, message, request_id: requestId, doc_url: docUrl, details } = item.error;
  // The service is unavailable if the answer to its COMMIT was lost.
  const outcome: Outcome = code === "UNAVAILABLE" ? "unknown" : "refused";
  return { code, message, requestId, docUrl, details, outcome };
}
