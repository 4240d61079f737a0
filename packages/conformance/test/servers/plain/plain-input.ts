import { DroppedConnection, notDecimal, PlainRefusal } from "./plain-errors.js";
import type { PlainOauth } from "./plain-oauth.js";
import { type Has, type PlainRequest, plainTokens } from "./plain-server.js";

export const policyMax = 1000;

/** Whose token it is: the second tenant's, or the first one's. */
export function tenantOf(given: string | undefined): "first" | "second" {
  return given?.includes(plainTokens.second) === true ? "second" : "first";
}

/** Paths that are taken for that of transactions, and for which no token is looked for, if that is the fault. */
const looseSpellings = {
  "no-token-with-slash-accepted": "/v1/transactions/",
  "no-token-in-capitals-accepted": "/V1/TRANSACTIONS",
  "no-token-with-escape-accepted": "/v1/%74ransactions",
  "no-token-with-query-accepted": "/v1/transactions?a=1",
  "no-token-with-parameter-accepted": "/v1/transactions;a=1",
  "no-token-with-dot-accepted": "/v1/./transactions",
  "no-token-with-dots-accepted": "/v1/wallets/../transactions",
} as const;

export const isLooselySpelt = (path: string, has: Has) =>
  (Object.keys(looseSpellings) as (keyof typeof looseSpellings)[]).some(
    (fault) => has(fault) && path === looseSpellings[fault],
  );

/** Connections on which a valid token was seen, if that is the fault. */
const authenticated = new WeakSet<object>();

export function checkToken({ headers, socket, path }: PlainRequest, has: Has, oauth: PlainOauth): void {
  const given = headers.authorization ?? "";
  if (isLooselySpelt(path, has)) return;
  if (has("token-of-connection") && authenticated.has(socket)) return;
  if (given !== "" && admits(given, has, oauth)) authenticated.add(socket);
  if (given === "" && !has("no-token-accepted"))
    throw new PlainRefusal(401, "UNAUTHENTICATED", "A token is required.", "no-token");
  if (given !== "" && !admits(given, has, oauth))
    throw new PlainRefusal(401, "UNAUTHENTICATED", "The token is not valid.");
}

/** One of two processes does not know that it was revoked. */
const revokedTries = new WeakMap<Has, number>();

/** Whether this value of Authorization is accepted. */
export function admits(given: string, has: Has, oauth: PlainOauth): boolean {
  const [scheme = "", ...words] = given.split(" ");
  const token = has("word-after-token-accepted") ? (words[0] ?? "") : words.join(" ");
  if (given === "") return false;
  if (scheme !== "Bearer" && !has("any-scheme-accepted")) return false;
  if (token === "") return has("empty-bearer-accepted");
  if (has("any-token-accepted")) return true;
  if (token === plainTokens.revoked) {
    const tries = (revokedTries.get(has) ?? 0) + 1;
    revokedTries.set(has, tries);
    return has("revoked-token-accepted") || (has("revoked-token-accepted-again") && tries % 2 === 0);
  }
  if (token === plainTokens.own || token === plainTokens.second) return true;
  if (isLikeToken(token, has)) return true;
  const isIssued = oauth.isValid(token);
  if (isIssued !== undefined) return isIssued;
  return token.startsWith("plain-") ? has("altered-token-accepted") : has("garbage-token-accepted");
}

function isLikeToken(token: string, has: Has): boolean {
  const { own } = plainTokens;
  return (
    (token === "null" && has("null-token-accepted")) ||
    (token.length === own.length && token.startsWith(own.slice(0, -1)) && has("end-of-token-ignored")) ||
    (has("cut-token-accepted") && own.startsWith(token) && token.length > (2 * own.length) / 3) ||
    (has("unsigned-token-accepted") && token === own.slice(0, own.lastIndexOf(".") + 1)) ||
    (has("middle-of-token-ignored") &&
      token.length === own.length &&
      token.split(".").every((part, at) => at === 1 || part === own.split(".")[at])) ||
    (token.startsWith(own) && has("longer-token-accepted")) ||
    (token.endsWith(own) && has("token-suffix-accepted")) ||
    (own.includes(token) && has("piece-of-token-accepted")) ||
    (token.toLowerCase() === own && has("token-in-any-case-accepted"))
  );
}

/** What programs often do not expect. */
export function isOdd({ method, path, headers, body }: PlainRequest): boolean {
  const isPath = path.endsWith("%ff") || (method === "PATCH" && path.startsWith("/v1/transactions/"));
  if (isPath || (headers.authorization?.length ?? 0) >= 200) return true;
  if (path !== "/v1/transactions" || !body.startsWith('{"reference"')) return false;
  const isShort = !body.includes('"amount"') && body.endsWith("}");
  return isShort || body.length > 65_536 || /"asset":(null|"CONFORMANCE")|\\u0000","asset|\\ud800/.test(body);
}

/** The body of a create request. */
export interface Input {
  reference: string;
  asset: string;
  amount: string;
}

export function readInput({ headers, body }: PlainRequest, has: Has): Input {
  const fallback = { reference: "none", asset: "USD", amount: "1.15" };
  if (!(headers["content-type"] ?? "").startsWith("application/json")) {
    if (has("xml-accepted") && body.startsWith("<")) return fallback;
    if (has("form-accepted")) return { ...fallback, ...Object.fromEntries(new URLSearchParams(body)) };
    throw new PlainRefusal(415, "UNSUPPORTED_MEDIA_TYPE", "The body must be JSON.", "media-type");
  }
  if (body === "" && has("empty-body-accepted")) return fallback;
  const parsed = has("string-accepted") ? unquote(parse(body, has)) : parse(body, has);
  if (Array.isArray(parsed)) {
    if (has("array-accepted")) return parsed[0] as Input;
    throw new PlainRefusal(400, "INVALID_REQUEST", "The body must be an object.");
  }
  if (parsed === null && has("null-accepted")) return fallback;
  if (typeof parsed !== "object" || parsed === null)
    throw new PlainRefusal(400, "INVALID_REQUEST", "The body must be an object.");
  refuseAmbiguous(parsed, body, has);
  return parsed as Input;
}

const unquote = (value: unknown): unknown => (typeof value === "string" ? JSON.parse(value) : value);

/** Bodies here are flat, so their members can be counted in the text. */
function refuseAmbiguous(parsed: object, body: string, has: Has): void {
  const refuse = (message: string) => {
    throw new PlainRefusal(400, "INVALID_REQUEST", message);
  };
  const names = [...body.matchAll(/"(\w+)"\s*:/g)].map(([, name]) => name);
  if (new Set(names).size < names.length && !has("repeated-member-accepted")) refuse("A member is repeated.");
  const isKnown = (name: string) => ["reference", "asset", "amount"].includes(name);
  if (!Object.keys(parsed).every(isKnown) && !has("unknown-member-accepted")) refuse("A member is unknown.");
}

function parse(body: string, has: Has): unknown {
  try {
    return JSON.parse(body);
  } catch {
    if (body !== "" && has("malformed-dropped")) throw new DroppedConnection();
    if (body !== "" && has("malformed-accepted")) return JSON.parse(`${body}}`);
    throw new PlainRefusal(
      has("malformed-500") ? 500 : 400,
      "MALFORMED_JSON",
      "The body is not JSON.",
      "malformed-json",
    );
  }
}

export function readKey({ headers, rawHeaders }: PlainRequest, has: Has): string | undefined {
  const key = headers["idempotency-key"];
  const isExact = rawHeaders.includes("Idempotency-Key");
  if (typeof key !== "string" || (has("key-header-exact-case") && !isExact)) {
    if (key === undefined && has("missing-key-accepted")) return undefined;
    if (key === undefined && has("missing-key-dropped")) throw new DroppedConnection();
    throw new PlainRefusal(
      has("missing-key-409") ? 409 : 400,
      "IDEMPOTENCY_KEY_REQUIRED",
      "Idempotency-Key is required.",
      "create",
    );
  }
  if (has("keys-cut-at-128") && key.length > 255)
    throw new PlainRefusal(400, "KEY_TOO_LONG", "Idempotency-Key is too long.", "create");
  if (key === "" && !has("empty-key-accepted"))
    throw new PlainRefusal(400, "IDEMPOTENCY_KEY_REQUIRED", "Idempotency-Key is empty.", "create");
  return key;
}

/** Amounts that are accepted by a fault, although they are no decimal numbers in a string. */
const isLenient = (amount: unknown, has: Has) =>
  (has("integer-accepted") && Number.isInteger(amount)) ||
  (has("list-accepted") && Array.isArray(amount)) ||
  (has("amount-prefix-accepted") && typeof amount === "string" && /^\d+\.\d+\D/.test(amount)) ||
  (has("binary-amount-accepted") && amount === "0b1") ||
  (has("empty-amount-accepted") && amount === "");

/** `isAllowed` if policy lets it pass, whatever the amount. */
export function validate(input: Input, has: Has, create: (input: Input) => unknown, isAllowed = false): void {
  const refuse = (code: string, message: string, status = 400) => {
    throw new PlainRefusal(status, code, message, "create");
  };
  const { reference, asset, amount } = input as unknown as Record<string, unknown>;
  const isNumberAdmitted = typeof reference === "number" && has("reference-number-accepted");
  if (typeof reference !== "string" && !isNumberAdmitted)
    refuse("INVALID_REQUEST", "reference must be a string.");
  // So that only a reference that is long and usual otherwise is cut.
  const isUsual = typeof reference !== "string" || /^[\w-]{1,100}$/.test(reference);
  if (has("reference-cut-at-64") && !isUsual) refuse("INVALID_REQUEST", "reference is not allowed.");
  const isAssetAdmitted = Array.isArray(asset)
    ? has("asset-list-accepted")
    : typeof asset === "number" && has("asset-number-accepted");
  if (typeof asset !== "string" && !isAssetAdmitted) refuse("INVALID_REQUEST", "asset must be a string.");
  if (typeof amount !== "string" && !has("number-accepted") && !isLenient(amount, has))
    throw new PlainRefusal(
      has("html-number-amount") ? 500 : has("status-not-listed") ? 418 : 400,
      has("code-not-listed") ? "OUT_OF_LUCK" : "INVALID_REQUEST",
      "amount must be a string.",
      "number-amount",
    );
  const decimal = has("amount-in-a-line-accepted") ? /^\d+(\.\d+)?$/m : /^\d+(\.\d+)?$/;
  const isDecimal = typeof amount !== "string" || decimal.test(amount);
  if (!isDecimal && !has("word-accepted") && !isLenient(amount, has)) refuse("INVALID_REQUEST", notDecimal);
  if (!(Number(amount) > policyMax) || has("policy-not-applied") || isAllowed) return;
  if (has("refused-yet-created") || has("refused-yet-created-by-id")) create(input);
  const code = has("policy-other-code") ? "FORBIDDEN" : "POLICY_REJECTED";
  throw new PlainRefusal(has("policy-200") ? 200 : 403, code, "The amount is above the limit.", "policy");
}
