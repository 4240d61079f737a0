import { PlainRefusal } from "./plain-errors.js";
import { createGathering } from "./plain-gathering.js";
import { type Input, tenantOf } from "./plain-input.js";
import { minuteMs } from "./plain-keys.js";
import type { Has, PlainAnswer, PlainRequest } from "./plain-server.js";
import { isLikeId, showAmount, showReference } from "./plain-shown.js";
import { changedLater, crowd, lostAfterReads, lostIndex, manyIds } from "./plain-times.js";

export interface Transaction extends Input {
  id: string;
  state: string;
  created_at: string;
}

/** What creating and reading share. */
export interface PlainStore {
  readonly transactions: ReadonlyMap<string, Transaction>;
  readonly tenants: Map<string, string>;
  readonly settledAt: Map<string, number>;
  /** Whose amount was added once more. */
  readonly added: Set<string>;
  /** Whether a request was seen that the kit sends at its end. */
  isEnding: boolean;
  /** How many more times every other GET shows the state of before. */
  staleReads: number | undefined;
}

/** GET of a transaction. */
export function createPlainReading(has: Has, store: PlainStore) {
  const gather = createGathering();
  const finalReads = new Map<string, number>();
  /** Those that were not found once, although they had been shown. */
  const missed = new Set<string>();
  /** Those that were asked for, if the first GET of each fails. */
  const asked500 = new Set<string>();
  let asked: string | undefined;

  const isNotFirst = (id: string) => [...store.transactions.keys()].indexOf(id) > changedLater;

  const isMissedOnce = (id: string) =>
    (finalReads.get(id) ?? 0) > 0 && !missed.has(id) && missed.add(id).has(id);

  const isLost = (id: string) =>
    has("accepted-then-404") ||
    (has("some-lost") && [...store.transactions.keys()].indexOf(id) === lostIndex) ||
    (has("not-found-again") && store.isEnding && isNotFirst(id) && isMissedOnce(id)) ||
    (has("lost-at-the-end") && store.isEnding && isNotFirst(id)) ||
    (has("lost-when-final") && (finalReads.get(id) ?? 0) > lostAfterReads);

  const findId = (id: string): string => {
    const isSame = (own: string) => isLikeId(own, id, has);
    return store.transactions.has(id) ? id : ([...store.transactions.keys()].find(isSame) ?? id);
  };

  /** If that is the fault, requests that arrive together are answered with the transaction of the last one. */
  const show = async (id: string, request: PlainRequest): Promise<PlainAnswer> => {
    if (!has("get-together-mixed")) return showOne(id, request);
    asked = id;
    const isCrowded = await gather("show", crowd);
    return showOne(isCrowded ? asked : id, request);
  };

  const isFirstRead = (id: string) => !asked500.has(id) && asked500.add(id).has(id);

  const showOne = (id: string, request: PlainRequest): PlainAnswer => {
    const isOfCaller = store.tenants.get(findId(id)) === tenantOf(request.headers.authorization);
    if (has("other-tenants-transaction-403") && store.transactions.has(id) && !isOfCaller)
      throw new PlainRefusal(403, "FORBIDDEN", "The transaction is not yours.");
    const isOwn = isOfCaller || has("other-tenants-transaction-shown");
    if (has("get-500-at-first") && store.transactions.has(id) && isFirstRead(id))
      throw new PlainRefusal(500, "INTERNAL", "Something went wrong.");
    if (has("get-500-later") && store.isEnding && isMissedOnce(id))
      throw new PlainRefusal(500, "INTERNAL", "Something went wrong.");
    const known = !isOwn || isLost(id) ? undefined : store.transactions.get(findId(id));
    if (known === undefined) {
      if (has("unknown-id-200")) return { status: 200, body: { id, state: "completed" } };
      throw new PlainRefusal(
        has("unknown-id-error-200") ? 200 : has("not-found-400") ? 400 : 404,
        "TRANSACTION_NOT_FOUND",
        "There is no such transaction.",
        "unknown-id",
      );
    }
    const all = [...store.transactions.values()];
    const [first] = all;
    const other = has("ids-mixed-up-when-many") ? all[all.indexOf(known) - manyIds] : undefined;
    const etag = `"${id}-${known.state}"`;
    if (request.headers["if-none-match"] === etag && !has("etag-ignored")) return { status: 304, body: "" };
    const body = present(has("get-shows-another") && first !== undefined ? first : (other ?? known));
    if (has("get-empty-body")) return { status: 200, headers: { etag }, body: {} };
    if (has("get-cut-at-the-end") && store.isEnding)
      return { status: 200, body: JSON.stringify(body).slice(9) };
    if (has("get-not-utf8")) return { status: 200, body: { ...body, note: "é" }, encoding: "latin1" };
    const isPending = has("get-202-until-final") && known.state !== "completed";
    return { status: has("get-203") ? 203 : isPending ? 202 : 200, headers: { etag }, body };
  };

  const present = (transaction: Transaction): object => {
    const { state, ...rest } = transaction;
    const reads = state === "completed" ? (finalReads.get(rest.id) ?? 0) + 1 : 0;
    finalReads.set(rest.id, reads);
    const ageMs = performance.now() - (store.settledAt.get(rest.id) ?? Number.POSITIVE_INFINITY);
    const isChangedLater =
      [...store.transactions.keys()].indexOf(rest.id) < changedLater &&
      ((has("final-changes-later") && ageMs > minuteMs) ||
        (has("final-changes-at-the-end") && store.isEnding));
    const isOther = store.isEnding && isNotFirst(rest.id);
    const isDrifted = has("final-amount-drifts") && store.isEnding && state === "completed";
    const amount = `${rest.amount}${isDrifted ? "1" : ""}`;
    if (store.staleReads !== undefined && store.staleReads > 0 && state === "completed")
      store.staleReads -= 1;
    const isStale = (store.staleReads ?? 0) % 2 === 1;
    const isBack = (has("final-goes-back") && isOther && reads > 1) || isStale;
    const shown =
      (has("final-changes") && reads % 2 === 1) || isChangedLater ? "failed" : isBack ? "accepted" : state;
    return {
      ...rest,
      reference:
        has("reference-left-out") || (has("reference-left-out-when-final") && state === "completed")
          ? undefined
          : has("reference-null")
            ? null
            : showReference(rest.reference, has),
      asset: has("asset-changed") ? "EUR" : rest.asset,
      amount: has("amount-left-out")
        ? undefined
        : showAmount(store.added.has(rest.id) ? "2.30" : amount, has, isOther),
      ...(has("state-missing") ? {} : { state: has("state-is-object") ? { name: shown } : shown }),
      ...(has("get-off-schema") ? { created_at: 5 } : {}),
    };
  };
  return show;
}
