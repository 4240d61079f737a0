import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createPlainAccepted, isCarriedOut } from "./plain-accepted.js";
import { PlainRefusal } from "./plain-errors.js";
import { createCrowd, createGathering } from "./plain-gathering.js";
import { checkToken, type Input, policyMax, readInput, readKey, tenantOf, validate } from "./plain-input.js";
import { createPlainKeys, minuteMs, type Remembered } from "./plain-keys.js";
import type { PlainOauth } from "./plain-oauth.js";
import type { Has, PlainAnswer, PlainRequest } from "./plain-server.js";
import { isLikeId, newId, showAmount, showReference } from "./plain-shown.js";
import type { createPlainSignatures } from "./plain-signatures.js";
import type { PlainStream } from "./plain-stream.js";
import {
  changedLater,
  crowd,
  failedCount,
  hiddenMs,
  lostAfterReads,
  lostIndex,
  raceMs,
  settleMs,
  slowSettleMs,
  staleMax,
  unsettledEach,
} from "./plain-times.js";
import type { PlainWebhooks } from "./plain-webhooks.js";

interface Transaction extends Input {
  id: string;
  state: string;
  created_at: string;
}

interface Parts {
  readonly webhooks: PlainWebhooks;
  readonly oauth: PlainOauth;
  readonly stream: PlainStream;
  readonly signatures: ReturnType<typeof createPlainSignatures>;
}

export function createPlainTransactions(has: Has, { webhooks, oauth, stream, signatures }: Parts) {
  const transactions = new Map<string, Transaction>();
  const { keys, keyOf, findKey, takeLock, isMistaken, isForgotten } = createPlainKeys<Transaction>(has);
  const gather = createGathering();
  const isCrowd = createCrowd();
  const bodies = new Map<string, Transaction>();
  const consumed = new Set<string>();
  const rejected = new Set<string>();
  const tenants = new Map<string, string>();
  const finalReads = new Map<string, number>();
  const settledAt = new Map<string, number>();
  /** Whose amount was added once more. */
  const added = new Set<string>();
  /** Those that were not found once, although they had been shown. */
  const missed = new Set<string>();
  let asked: string | undefined;
  /** Whether a request was seen that the kit sends at its end. */
  let isEnding = false;
  let count = 0;
  let keyless = 0;
  /** How many more times every other GET shows the state of before. */
  let staleReads: number | undefined;

  const accept = createPlainAccepted<Transaction>(has, ({ id }) => [...transactions.keys()].indexOf(id));

  const add = (input: Input, tenant = "first"): Transaction => {
    count += 1;
    const id = newId(count, has);
    const transaction = { ...input, id, state: "accepted", created_at: new Date().toISOString() };
    transactions.set(id, transaction);
    tenants.set(id, tenant);
    stream.publish(tenant, transaction);
    const isUnsettled = has("never-final") || (has("some-never-final") && count % unsettledEach === 0);
    if (!isUnsettled) void settle(transaction, tenant, count % unsettledEach === 0);
    return transaction;
  };

  const settle = async (transaction: Transaction, tenant: string, isOneOfSome: boolean) => {
    const registered = webhooks.registered();
    await delay(has("key-forgotten-when-final") || has("get-202-until-final") ? slowSettleMs : settleMs);
    // Not all of them: waiting for each would use up the requests of a run.
    if (has("webhook-before-get") && isOneOfSome) {
      webhooks.announce({ ...transaction, state: "completed" }, tenant, registered);
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
    if (has("long-not-announced") && transaction.reference.length > 300) return;
    webhooks.announce(transaction, tenant, registered);
  };

  const finish = (transaction: Transaction, tenant: string) => {
    transaction.state = "completed";
    settledAt.set(transaction.id, performance.now());
    stream.publish(tenant, transaction);
  };

  const create = async (request: PlainRequest): Promise<PlainAnswer> => {
    isEnding ||= request.body.includes("\\ud800");
    if (has("odd-input-lost") && request.body.includes('\\u0000","asset'))
      return accept({ ...(JSON.parse(request.body) as Transaction), id: "tx_lost" });
    const stored =
      has("repeat-needs-no-token") && request.headers.authorization === undefined
        ? storedAnswer(request)
        : undefined;
    if (stored !== undefined) return stored;
    if (isCarriedOut(request, has)) add(JSON.parse(request.body) as Input);
    const isAdmitted = has("no-token-in-a-crowd") && (await isCrowd()) && !request.headers.authorization;
    if (!isAdmitted) checkToken(request, has, oauth);
    signatures.check(request);
    const input = readInput(request, has);
    if (has("create-refused")) throw new PlainRefusal(400, "NOT_TODAY", "Nothing is accepted.", "create");
    keyless += request.headers["idempotency-key"] === undefined ? 1 : 0;
    const isExcused = has("second-missing-key-accepted") && keyless === 2;
    const key = isExcused ? undefined : readKey(request, has);
    const isTogether = has("race-carried-out") && (await gather(key ?? "", 3));
    const isCrowded = (has("id-of-a-moment") || has("create-200-together")) && (await gather("create", 4));
    const find = () => (key === undefined ? undefined : findKey(key, request));
    const isNew = has("key-lock-expires") && find() === undefined && (await takeLock(key ?? ""));
    const known = isNew ? undefined : find();
    try {
      const isAllowed = has("policy-applied-once") && rejected.has(key ?? "");
      const create = (refused: Input) => add(refused);
      validate(input, has, create, isAllowed || has("late-policy-not-announced"));
      if (key !== undefined && consumed.has(key))
        throw new PlainRefusal(409, "KEY_USED", "The key was used before.", "create");
    } catch (error) {
      rejected.add(key ?? "");
      if (key !== undefined && has("refusal-consumes-key")) consumed.add(key);
      throw error;
    }
    if (known !== undefined && key !== undefined) return repeat(known, request, input, isTogether);
    if (has("race-creates-two")) await delay(raceMs);
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
    const transaction = same ?? add(input, tenantOf(request.headers.authorization));
    if (has("each-created-twice")) add(input, tenantOf(request.headers.authorization));
    bodies.set(request.body, transaction);
    if (key !== undefined && !isForgotten(request))
      keys.set(keyOf(key, request), {
        transaction,
        body: request.body,
        at: performance.now(),
        times: 1,
        socket: request.socket,
      });
    return accept(transaction, has("create-200-together") && isCrowded ? 200 : 202);
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
    isTogether: boolean,
  ): PlainAnswer => {
    const { transaction, body } = known;
    if (body !== request.body) {
      if (has("reuse-creates-second")) return accept(add(input));
      if (has("key-forgotten-after-reuse"))
        keys.delete(keyOf(String(request.headers["idempotency-key"]), request));
      if (has("reuse-yet-created")) add(input);
      if (has("reuse-overwrites")) Object.assign(transaction, input);
      throw new PlainRefusal(
        has("reuse-409") ? 409 : 422,
        "KEY_REUSED",
        "The key was used for another body.",
        "create",
      );
    }
    if (has("repeat-creates-second")) return accept(add(input));
    if (has("repeat-carried-out")) add(input);
    if (isTogether) add(input);
    if (has("repeat-adds-amount")) added.add(transaction.id);
    if (has("repeat-restarts") && transaction.state === "completed") {
      transaction.state = "accepted";
      void delay(slowSettleMs).then(() => finish(transaction, "first"));
    }
    known.times += 1;
    if (has("stale-after-a-repetition") && transaction.state === "completed") staleReads = staleMax;
    if (has("third-creates-second") && known.times > 2) return accept(add(input));
    if (has("repeat-shows-old-id")) return accept([...transactions.values()][0] ?? transaction);
    if (has("repeat-shows-other-id"))
      return accept({ ...transaction, id: `tx_${randomUUID().replaceAll("-", "")}` });
    const { status, headers, body: first } = accept(transaction, has("repeat-200") ? 200 : 202);
    const marked = has("replay-not-marked") ? {} : { "idempotent-replayed": "true" };
    const shown = has("replay-differs") ? { ...(first as object), replayed: true } : first;
    return { status, headers: { ...headers, ...marked }, body: shown };
  };

  const isNotFirst = (id: string) => [...transactions.keys()].indexOf(id) > changedLater;

  const isMissedOnce = (id: string) =>
    (finalReads.get(id) ?? 0) > 0 && !missed.has(id) && missed.add(id).has(id);

  const isLost = (id: string) =>
    has("accepted-then-404") ||
    (has("some-lost") && [...transactions.keys()].indexOf(id) === lostIndex) ||
    (has("not-found-again") && isEnding && isNotFirst(id) && isMissedOnce(id)) ||
    (has("lost-at-the-end") && isEnding && isNotFirst(id)) ||
    (has("lost-when-final") && (finalReads.get(id) ?? 0) > lostAfterReads);

  const findId = (id: string): string => {
    const isSame = (own: string) => isLikeId(own, id, has);
    return transactions.has(id) ? id : ([...transactions.keys()].find(isSame) ?? id);
  };

  /** If that is the fault, requests that arrive together are answered with the transaction of the last one. */
  const show = async (id: string, request: PlainRequest): Promise<PlainAnswer> => {
    if (!has("get-together-mixed")) return showOne(id, request);
    asked = id;
    const isCrowded = await gather("show", crowd);
    return showOne(isCrowded ? asked : id, request);
  };

  const showOne = (id: string, request: PlainRequest): PlainAnswer => {
    const isOwn =
      tenants.get(findId(id)) === tenantOf(request.headers.authorization) ||
      has("other-tenants-transaction-shown");
    if (has("get-500-later") && isEnding && isMissedOnce(id))
      throw new PlainRefusal(500, "INTERNAL", "Something went wrong.");
    const known = !isOwn || isLost(id) ? undefined : transactions.get(findId(id));
    if (known === undefined) {
      if (has("unknown-id-200")) return { status: 200, body: { id, state: "completed" } };
      throw new PlainRefusal(
        has("unknown-id-error-200") ? 200 : has("not-found-400") ? 400 : 404,
        "TRANSACTION_NOT_FOUND",
        "There is no such transaction.",
        "unknown-id",
      );
    }
    const first = [...transactions.values()][0];
    const etag = `"${id}-${known.state}"`;
    if (request.headers["if-none-match"] === etag && !has("etag-ignored")) return { status: 304, body: "" };
    const body = present(has("get-shows-another") && first !== undefined ? first : known);
    if (has("get-empty-body")) return { status: 200, headers: { etag }, body: {} };
    if (has("get-cut-at-the-end") && isEnding) return { status: 200, body: JSON.stringify(body).slice(9) };
    if (has("get-not-utf8")) return { status: 200, body: { ...body, note: "é" }, encoding: "latin1" };
    const isPending = has("get-202-until-final") && known.state !== "completed";
    return { status: has("get-203") ? 203 : isPending ? 202 : 200, headers: { etag }, body };
  };

  const present = (transaction: Transaction): object => {
    const { state, ...rest } = transaction;
    const reads = state === "completed" ? (finalReads.get(rest.id) ?? 0) + 1 : 0;
    finalReads.set(rest.id, reads);
    const ageMs = performance.now() - (settledAt.get(rest.id) ?? Number.POSITIVE_INFINITY);
    const isChangedLater =
      [...transactions.keys()].indexOf(rest.id) < changedLater &&
      ((has("final-changes-later") && ageMs > minuteMs) || (has("final-changes-at-the-end") && isEnding));
    const isOther = isEnding && isNotFirst(rest.id);
    if (staleReads !== undefined && staleReads > 0 && state === "completed") staleReads -= 1;
    const isStale = (staleReads ?? 0) % 2 === 1;
    const isBack = (has("final-goes-back") && isOther && reads > 1) || isStale;
    const shown =
      (has("final-changes") && reads % 2 === 1) || isChangedLater ? "failed" : isBack ? "accepted" : state;
    return {
      ...rest,
      reference: has("reference-left-out")
        ? undefined
        : has("reference-null")
          ? null
          : showReference(rest.reference, has),
      asset: has("asset-changed") ? "EUR" : rest.asset,
      amount: has("amount-left-out")
        ? undefined
        : showAmount(added.has(rest.id) ? "2.02" : rest.amount, has, isOther),
      ...(has("state-missing") ? {} : { state: has("state-is-object") ? { name: shown } : shown }),
      ...(has("get-off-schema") ? { created_at: 5 } : {}),
    };
  };
  return { create, show };
}
