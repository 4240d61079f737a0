import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createPlainAccepted, isCarriedOut } from "./plain-accepted.js";
import { PlainRefusal } from "./plain-errors.js";
import { createCrowd, createGathering } from "./plain-gathering.js";
import { createPlainHangUps } from "./plain-hang-ups.js";
import { checkToken, type Input, policyMax, readInput, readKey, tenantOf, validate } from "./plain-input.js";
import { createPlainKeys, type Remembered } from "./plain-keys.js";
import type { PlainOauth } from "./plain-oauth.js";
import { createPlainReading, type PlainStore, type Transaction } from "./plain-reading.js";
import type { Has, PlainAnswer, PlainRequest } from "./plain-server.js";
import { newId } from "./plain-shown.js";
import type { createPlainSignatures } from "./plain-signatures.js";
import type { PlainStream } from "./plain-stream.js";
import {
  failedCount,
  failedMs,
  failingAmount,
  hiddenMs,
  longKey,
  raceMs,
  settleMs,
  slowSettleMs,
  staleMax,
  twiceCount,
  twiceEach,
  unsettledEach,
} from "./plain-times.js";
import type { PlainWebhooks } from "./plain-webhooks.js";

/** Faults of requests that arrive together. */
const crowdFaults = [
  "id-of-a-moment",
  "create-200-together",
  "create-500-together",
  "final-together",
] as const;

/** Faults of requests with one key that arrive together. */
const raceFaults = ["race-carried-out", "final-in-a-race", "two-bodies-create-two"] as const;
const manyRacers = 8;

/** Faults that show only if the result takes a while. */
const slowFaults = [
  "key-forgotten-in-between",
  "key-forgotten-when-final",
  "get-202-until-final",
  "reference-left-out-when-final",
] as const;

interface Parts {
  readonly webhooks: PlainWebhooks;
  readonly oauth: PlainOauth;
  readonly stream: PlainStream;
  readonly signatures: ReturnType<typeof createPlainSignatures>;
}

export function createPlainTransactions(has: Has, { webhooks, oauth, stream, signatures }: Parts) {
  const transactions = new Map<string, Transaction>();
  const { keys, keyOf, findKey, takeLock, isMistaken, isForgotten } = createPlainKeys<Transaction>(has);
  const hangUps = createPlainHangUps(has);
  const gather = createGathering();
  const isCrowd = createCrowd();
  const bodies = new Map<string, Transaction>();
  const consumed = new Set<string>();
  const rejected = new Set<string>();
  /** Keys that are not remembered after their first request was refused. */
  const forgotten = new Set<string>();
  const unauthenticated = new Map<string, unknown>();
  /** Keys of requests that arrived together. */
  const raced = new Set<string>();
  const store: PlainStore = {
    transactions,
    tenants: new Map(),
    settledAt: new Map(),
    added: new Set(),
    isEnding: false,
    staleReads: undefined,
  };
  /** If no other one was created since. */
  let lastRepeated: Transaction | undefined;
  let count = 0;
  let keyless = 0;

  const accept = createPlainAccepted<Transaction>(has, ({ id }) => [...transactions.keys()].indexOf(id));

  const add = (input: Input, tenant = "first", isStuck = false): Transaction => {
    count += 1;
    const id = newId(count, has);
    const transaction = { ...input, id, state: "accepted", created_at: new Date().toISOString() };
    transactions.set(id, transaction);
    store.tenants.set(id, tenant);
    stream.publish(tenant, transaction);
    const isUnsettled =
      has("never-final") || isStuck || (has("some-never-final") && count % unsettledEach === 0);
    if (!isUnsettled) void settle(transaction, tenant, count % unsettledEach === 0);
    return transaction;
  };

  const settle = async (transaction: Transaction, tenant: string, isOneOfSome: boolean) => {
    const registered = webhooks.registered();
    if (has("key-forgotten-in-between")) {
      // So late that a repetition that is sent at once still finds the key.
      await delay(slowSettleMs);
      transaction.state = "processing";
    }
    await delay(slowFaults.some(has) ? slowSettleMs : settleMs);
    // Not all of them: waiting for each would use up the requests of a run.
    if (has("webhook-before-get") && isOneOfSome) {
      webhooks.announce({ ...transaction, state: resultOf(transaction) }, tenant, registered);
      await delay(hiddenMs);
      finish(transaction, tenant);
      return;
    }
    if (has("late-policy-not-announced") && Number(transaction.amount) > policyMax) {
      transaction.state = "failed";
      return;
    }
    if (has("delivery-id-per-transaction")) webhooks.announce(transaction, tenant, registered);
    finish(transaction, tenant);
    if (has("failed-not-announced") && transaction.state === "failed") return;
    if (has("long-not-announced") && transaction.reference.length > 300) return;
    const isWithheld = has("long-result-not-announced") && transaction.reference.length > 300;
    webhooks.announce(isWithheld ? { ...transaction, state: "accepted" } : transaction, tenant, registered);
  };

  const resultOf = ({ amount }: Transaction) =>
    amount === failingAmount && !has("failed-shown-as-completed") ? "failed" : "completed";

  const finish = (transaction: Transaction, tenant: string) => {
    transaction.state = resultOf(transaction);
    if (transaction.state === "failed" && has("failed-then-completed"))
      void delay(failedMs).then(() => {
        transaction.state = "completed";
      });
    store.settledAt.set(transaction.id, performance.now());
    stream.publish(tenant, transaction);
  };

  const create = async (request: PlainRequest): Promise<PlainAnswer> => {
    store.isEnding ||= request.body.includes("\\ud800");
    if (has("odd-input-lost") && request.body.includes('\\u0000","asset'))
      return accept({ ...(JSON.parse(request.body) as Transaction), id: "tx_lost" });
    const stored =
      has("repeat-needs-no-token") && request.headers.authorization === undefined
        ? storedAnswer(request)
        : undefined;
    if (stored !== undefined) return stored;
    if (isCarriedOut(request, has)) add(JSON.parse(request.body) as Input);
    const isAdmitted = has("no-token-in-a-crowd") && (await isCrowd()) && !request.headers.authorization;
    if (!isAdmitted) checkTokenOf(request);
    signatures.check(request);
    const input = readInput(request, has);
    if (has("create-refused")) throw new PlainRefusal(400, "NOT_TODAY", "Nothing is accepted.", "create");
    keyless += request.headers["idempotency-key"] === undefined ? 1 : 0;
    const isExcused = has("second-missing-key-accepted") && keyless === 2;
    const key = isExcused ? undefined : readKey(request, has);
    const isRaced = raceFaults.some(has) && (await gather(key ?? "", 3));
    const isRacedByMany = has("race-of-many-creates-two") && (await gather(key ?? "", manyRacers));
    if (isRaced) raced.add(key ?? "");
    const isCrowded = crowdFaults.some(has) && (await gather("create", 4));
    if (has("hung-up-carried-out-twice") && (await hangUps.isForgotten(keyOf(key ?? "", request))))
      keys.delete(keyOf(key ?? "", request));
    const find = () => (key === undefined ? undefined : findKey(key, request));
    const isNew = has("key-lock-expires") && find() === undefined && (await takeLock(key ?? ""));
    const known = isNew || isRacedByMany ? undefined : find();
    try {
      const isAllowed = has("policy-applied-once") && rejected.has(key ?? "");
      const create = (refused: Input) => add(refused);
      validate(input, has, create, isAllowed || has("late-policy-not-announced"));
      if (key !== undefined && consumed.has(key))
        throw new PlainRefusal(409, "KEY_USED", "The key was used before.", "create");
    } catch (error) {
      rejected.add(key ?? "");
      const isPolicy = error instanceof PlainRefusal && error.status === 403;
      if (has(isPolicy ? "key-forgotten-after-policy" : "key-forgotten-after-refusal"))
        forgotten.add(key ?? "");
      if (key !== undefined && has("refusal-consumes-key")) consumed.add(key);
      throw error;
    }
    if (known !== undefined && key !== undefined) return repeat(known, request, input, isRaced);
    if (has("race-creates-two")) await delay(raceMs);
    if (has("create-500-together") && isCrowded)
      throw new PlainRefusal(500, "INTERNAL", "Something went wrong.");
    if (has("create-500-later") && count === failedCount) {
      count += 1;
      throw new PlainRefusal(500, "INTERNAL", "Something went wrong.");
    }
    const all = [...transactions.values()];
    const same = has("body-is-key")
      ? bodies.get(request.body)
      : isCrowded && has("id-of-a-moment")
        ? all.at(-1)
        : has("key-of-another-found") && isMistaken(request)
          ? all[0]
          : undefined;
    lastRepeated = undefined;
    const isStuck = has("never-final-under-a-long-key") && (key ?? "").length > longKey;
    const transaction = same ?? add(input, tenantOf(request.headers.authorization), isStuck);
    const isTwice =
      has("each-created-twice") ||
      (has("one-created-twice") && count === twiceCount) ||
      (has("created-twice-now-and-then") && count % twiceEach === 0);
    if (isTwice) add(input, tenantOf(request.headers.authorization));
    bodies.set(request.body, transaction);
    if (key !== undefined && !isForgotten(request) && !forgotten.has(key))
      keys.set(keyOf(key, request), {
        transaction,
        body: request.body,
        at: performance.now(),
        times: 1,
        socket: request.socket,
      });
    if (key !== undefined && (await hangUps.work(keyOf(key, request), request))) {
      if (has("hung-up-key-forgotten")) keys.delete(keyOf(key, request));
      if (has("hung-up-lost")) transactions.delete(transaction.id);
    }
    const isFinal =
      (has("final-together") && isCrowded) ||
      (has("final-in-a-race") && raced.has(key ?? "")) ||
      (has("final-for-the-second") && tenantOf(request.headers.authorization) === "second");
    return accept(transaction, has("create-200-together") && isCrowded ? 200 : 202, isFinal);
  };

  /** If that is the fault, what was refused is refused again, whatever the token. */
  const checkTokenOf = (request: PlainRequest) => {
    const slot = `${request.headers["idempotency-key"]} ${request.body}`;
    const kept = unauthenticated.get(slot);
    if (kept !== undefined) throw kept;
    try {
      checkToken(request, has, oauth);
    } catch (error) {
      if (has("key-forgotten-after-401")) forgotten.add(String(request.headers["idempotency-key"]));
      if (has("refused-token-keeps-key")) unauthenticated.set(slot, error);
      throw error;
    }
  };

  /** What a known key gets before anything else is looked at. */
  const storedAnswer = (request: PlainRequest): PlainAnswer | undefined => {
    const key = request.headers["idempotency-key"];
    const known = typeof key === "string" ? keys.get(keyOf(key, request)) : undefined;
    return known?.body === request.body ? accept(known.transaction) : undefined;
  };

  const repeat = (
    known: Remembered<Transaction>,
    request: PlainRequest,
    input: Input,
    isRaced: boolean,
  ): PlainAnswer => {
    const { transaction, body } = known;
    if (body !== request.body) {
      if (isRaced && has("two-bodies-create-two")) return accept(add(input));
      if (has("reordered-creates-second") && input.reference === transaction.reference)
        return accept(add(input));
      if (has("reuse-creates-second")) return accept(add(input));
      if (has("key-forgotten-after-reuse"))
        keys.delete(keyOf(String(request.headers["idempotency-key"]), request));
      if (has("reuse-yet-created")) add(input);
      if (has("reuse-overwrites")) Object.assign(transaction, input);
      if (has("reuse-changes-reference")) transaction.reference = input.reference;
      throw new PlainRefusal(
        has("reuse-409") ? 409 : 422,
        "KEY_REUSED",
        "The key was used for another body.",
        "create",
      );
    }
    if (has("repeat-creates-second")) return accept(add(input));
    if (has("repeat-carried-out")) add(input);
    if (isRaced && has("race-carried-out")) add(input);
    if (has("repeat-adds-amount")) store.added.add(transaction.id);
    if (has("failed-carried-out-again") && transaction.state === "failed") transaction.state = "completed";
    if (has("repeat-restarts") && transaction.state === "completed") {
      transaction.state = "accepted";
      void delay(slowSettleMs).then(() => finish(transaction, "first"));
    }
    const previous = lastRepeated;
    lastRepeated = transaction;
    if (has("repetitions-mixed-up") && previous !== undefined && previous !== transaction)
      return accept(previous);
    known.times += 1;
    if (has("stale-after-a-repetition") && transaction.state === "completed") store.staleReads = staleMax;
    if (has("third-creates-second") && known.times > 2) return accept(add(input));
    if (has("repeat-shows-old-id")) return accept([...transactions.values()][0] ?? transaction);
    if (has("repeat-shows-other-id"))
      return accept({ ...transaction, id: `tx_${randomUUID().replaceAll("-", "")}` });
    const isFinal = has("final-in-a-race") && raced.has(String(request.headers["idempotency-key"]));
    const { status, headers, body: first } = accept(transaction, has("repeat-200") ? 200 : 202, isFinal);
    const marked = has("replay-not-marked") ? {} : { "idempotent-replayed": "true" };
    const shown = has("replay-differs") ? { ...(first as object), replayed: true } : first;
    return { status, headers: { ...headers, ...marked }, body: shown };
  };

  return { create, show: createPlainReading(has, store) };
}
