import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { PlainRefusal } from "./plain-errors.js";
import { type Has, type PlainAnswer, type PlainRequest, plainTokens } from "./plain-server.js";
import type { PlainWebhooks } from "./plain-webhooks.js";

interface Transaction {
  id: string;
  reference: string;
  asset: string;
  amount: string;
  state: string;
}

interface Remembered {
  readonly transaction: Transaction;
  readonly body: string;
  readonly at: number;
  readonly socket: object;
}

const settleMs = 5;
/** So slow that a request can be repeated before the result. */
const slowSettleMs = 300;
/** Long enough for a check that repeats a request at once, on a busy machine. */
export const forgottenMs = 400;
const policyMax = 1000;
const raceMs = 10;

export function createPlainTransactions(has: Has, webhooks: PlainWebhooks) {
  const transactions = new Map<string, Transaction>();
  const keys = new Map<string, Remembered>();
  const bodies = new Map<string, Transaction>();
  const consumed = new Set<string>();
  const finalReads = new Map<string, number>();
  let count = 0;

  const accept = (transaction: Transaction, status = 202): PlainAnswer => {
    const id = has("numeric-id") ? Number(transaction.id) : transaction.id;
    const state = has("final-in-202") ? "completed" : "accepted";
    const headers = { location: `/v1/transactions/${transaction.id}` };
    return { status: has("create-200") ? 200 : status, headers, body: { ...transaction, id, state } };
  };

  const add = (input: Omit<Transaction, "id" | "state">): Transaction => {
    count += 1;
    const id = has("numeric-id") ? String(100_000 + count) : `tx_${randomUUID().replaceAll("-", "")}`;
    const transaction = { ...input, id, state: "accepted" };
    transactions.set(id, transaction);
    if (!has("never-final")) void settle(transaction);
    return transaction;
  };

  const settle = async (transaction: Transaction) => {
    await delay(has("key-forgotten-when-final") ? slowSettleMs : settleMs);
    if (has("webhook-before-get")) {
      webhooks.announce({ ...transaction, state: "completed" });
      await delay(settleMs * 20);
      transaction.state = "completed";
      return;
    }
    transaction.state = "completed";
    webhooks.announce(transaction);
  };

  const create = async (request: PlainRequest): Promise<PlainAnswer> => {
    checkToken(request, has);
    const input = readInput(request, has);
    const key = readKey(request, has);
    const known = key === undefined ? undefined : findKey(key, request);
    try {
      validate(input, has, (refused) => add(refused));
      if (key !== undefined && consumed.has(key))
        throw new PlainRefusal(409, "KEY_USED", "The key was used before.", "create");
    } catch (error) {
      if (key !== undefined && has("refusal-consumes-key")) consumed.add(key);
      throw error;
    }
    if (known !== undefined && key !== undefined) return repeat(known, request.body, input);
    if (has("race-creates-two")) await delay(raceMs);
    const same = has("body-is-key") ? bodies.get(request.body) : undefined;
    const transaction = same ?? add(input);
    bodies.set(request.body, transaction);
    if (key !== undefined)
      keys.set(keyOf(key), {
        transaction,
        body: request.body,
        at: performance.now(),
        socket: request.socket,
      });
    return accept(transaction);
  };

  const keyOf = (key: string) => {
    const cased = has("keys-case-insensitive") ? key.toLowerCase() : key;
    return has("keys-truncated") ? cased.slice(0, 48) : cased;
  };

  const findKey = (key: string, { socket }: PlainRequest): Remembered | undefined => {
    const known = keys.get(keyOf(key));
    if (known === undefined) return undefined;
    const isForgotten =
      (has("key-per-connection") && known.socket !== socket) ||
      (has("key-forgotten-later") && performance.now() - known.at > forgottenMs) ||
      (has("key-forgotten-when-final") && known.transaction.state === "completed");
    return isForgotten ? undefined : known;
  };

  const repeat = (
    { transaction, body }: Remembered,
    again: string,
    input: Omit<Transaction, "id" | "state">,
  ): PlainAnswer => {
    if (body !== again && !has("keys-truncated") && !has("keys-case-insensitive")) {
      if (has("reuse-creates-second")) return accept(add(input));
      if (has("reuse-overwrites")) Object.assign(transaction, input);
      throw new PlainRefusal(422, "KEY_REUSED", "The key was used for another body.", "create");
    }
    if (has("repeat-creates-second")) return accept(add(input));
    if (has("repeat-shows-other-id"))
      return accept({ ...transaction, id: `tx_${randomUUID().replaceAll("-", "")}` });
    return accept(transaction, has("repeat-200") ? 200 : 202);
  };

  const show = (id: string): PlainAnswer => {
    const known = has("accepted-then-404") ? undefined : transactions.get(id);
    if (known === undefined) {
      if (has("unknown-id-200")) return { status: 200, body: { id, state: "completed" } };
      throw new PlainRefusal(404, "TRANSACTION_NOT_FOUND", "There is no such transaction.", "unknown-id");
    }
    const first = [...transactions.values()][0];
    return { status: 200, body: present(has("get-shows-another") && first !== undefined ? first : known) };
  };

  const present = (transaction: Transaction): object => {
    const { state, ...rest } = transaction;
    const reads = state === "completed" ? (finalReads.get(rest.id) ?? 0) + 1 : 0;
    finalReads.set(rest.id, reads);
    const shown = has("final-changes") && reads % 2 === 1 ? "failed" : state;
    return {
      ...rest,
      reference: has("reference-mangled")
        ? Buffer.from(rest.reference, "utf8").toString("latin1")
        : rest.reference,
      asset: has("asset-changed") ? "EUR" : rest.asset,
      amount: showAmount(rest.amount, has),
      ...(has("state-missing") ? {} : { state: shown }),
    };
  };
  return { create, show };
}

function showAmount(amount: string, has: Has): string | number {
  if (has("amount-shown-as-number")) return Number(amount);
  if (has("amount-rounded")) return Number(amount).toFixed(0);
  return has("amount-through-double") ? String(Number(amount)) : amount;
}

function checkToken({ headers }: PlainRequest, has: Has): void {
  const given = headers.authorization ?? "";
  if (given === "" && !has("no-token-accepted"))
    throw new PlainRefusal(401, "UNAUTHENTICATED", "A token is required.", "no-token");
  if (given !== "" && !isAdmitted(given, has))
    throw new PlainRefusal(401, "UNAUTHENTICATED", "The token is not valid.");
}

function isAdmitted(given: string, has: Has): boolean {
  const [scheme = "", token = ""] = given.split(" ");
  if (scheme !== "Bearer" && !has("any-scheme-accepted")) return false;
  if (token === "") return has("empty-bearer-accepted");
  if (token === plainTokens.revoked) return has("revoked-token-accepted");
  if (token === plainTokens.own || token === plainTokens.second) return true;
  return token.startsWith("plain-") ? has("altered-token-accepted") : has("garbage-token-accepted");
}

type Input = Omit<Transaction, "id" | "state">;

function readInput({ headers, body }: PlainRequest, has: Has): Input {
  const fallback = { reference: "none", asset: "USD", amount: "1.01" };
  if (!(headers["content-type"] ?? "").startsWith("application/json")) {
    if (has("form-accepted")) return { ...fallback, ...Object.fromEntries(new URLSearchParams(body)) };
    throw new PlainRefusal(415, "UNSUPPORTED_MEDIA_TYPE", "The body must be JSON.");
  }
  if (body === "" && has("empty-body-accepted")) return fallback;
  const parsed = parse(body, has);
  if (Array.isArray(parsed)) {
    if (has("array-accepted")) return parsed[0] as Input;
    throw new PlainRefusal(400, "INVALID_REQUEST", "The body must be an object.");
  }
  return parsed as Input;
}

function parse(body: string, has: Has): unknown {
  try {
    return JSON.parse(body);
  } catch {
    if (body !== "" && has("malformed-accepted")) return JSON.parse(`${body}}`);
    throw new PlainRefusal(400, "MALFORMED_JSON", "The body is not JSON.", "malformed-json");
  }
}

function readKey({ headers, rawHeaders }: PlainRequest, has: Has): string | undefined {
  const key = headers["idempotency-key"];
  const isExact = rawHeaders.includes("Idempotency-Key");
  if (typeof key !== "string" || (has("key-header-exact-case") && !isExact)) {
    if (key === undefined && has("missing-key-accepted")) return undefined;
    throw new PlainRefusal(400, "IDEMPOTENCY_KEY_REQUIRED", "Idempotency-Key is required.", "create");
  }
  if (key === "" && !has("empty-key-accepted"))
    throw new PlainRefusal(400, "IDEMPOTENCY_KEY_REQUIRED", "Idempotency-Key is empty.", "create");
  return key;
}

function validate(input: Input, has: Has, create: (input: Input) => unknown): void {
  const refuse = (code: string, message: string) => {
    throw new PlainRefusal(400, code, message, "create");
  };
  const { reference, asset, amount } = input as unknown as Record<string, unknown>;
  if (typeof reference !== "string" && !has("reference-number-accepted"))
    refuse("INVALID_REQUEST", "reference must be a string.");
  if (typeof asset !== "string" && !has("asset-number-accepted"))
    refuse("INVALID_REQUEST", "asset must be a string.");
  if (typeof amount !== "string" && !has("number-accepted"))
    refuse("INVALID_REQUEST", "amount must be a string.");
  if (typeof amount === "string" && !/^\d+(\.\d+)?$/.test(amount) && !has("word-accepted"))
    refuse("INVALID_REQUEST", "amount must be a decimal number.");
  if (!(Number(amount) > policyMax) || has("policy-not-applied")) return;
  if (has("refused-yet-created")) create(input);
  const code = has("policy-other-code") ? "FORBIDDEN" : "POLICY_REJECTED";
  throw new PlainRefusal(403, code, "The amount is above the limit.", "create");
}
