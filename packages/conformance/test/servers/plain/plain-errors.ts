import { randomUUID } from "node:crypto";
import type { Has, PlainAnswer } from "./plain-server.js";

/** What a refusal is about, for the faults that concern only one kind. */
export type RefusalKind =
  | "create"
  | "policy"
  | "number-amount"
  | "no-token"
  | "unknown-id"
  | "malformed-json"
  | "unknown-path"
  | "wrong-method"
  | "wrong-method-of-wallets"
  | "media-type"
  | "quota"
  | "other";

export class PlainRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly kind: RefusalKind;
  constructor(status: number, code: string, message: string, kind: RefusalKind = "other") {
    super(message);
    this.status = status;
    this.code = code;
    this.kind = kind;
  }
}

/** The connection is closed without an answer. */
export class DroppedConnection extends Error {}

const htmlFaults = {
  "no-token": "html-401",
  "unknown-id": "html-404",
  "malformed-json": "html-malformed",
  "unknown-path": "html-unknown-path",
  "number-amount": "html-number-amount",
  "wrong-method-of-wallets": "html-405-elsewhere",
  "media-type": "html-415",
  quota: "html-429",
} as const;

const idFaults = {
  "no-token": "no-request-id-401",
  "unknown-id": "no-request-id-404",
  "malformed-json": "no-request-id-malformed",
  "unknown-path": "no-request-id-unknown-path",
  "wrong-method": "no-request-id-405",
  "number-amount": "no-request-id-number-amount",
  policy: "no-request-id-policy",
} as const;

/** Kinds of refusals of create requests that are well-formed otherwise. */
const createKinds: readonly RefusalKind[] = ["create", "policy", "number-amount"];

const reusedIds = 16;
export const notDecimal = "amount must be a decimal number.";

export function createPlainErrors(has: Has) {
  let count = 0;
  let connection: object = {};
  const idsOfConnections = new WeakMap<object, string>();
  return { answer };

  function answer(thrown: unknown, socket: object): PlainAnswer {
    if (thrown instanceof DroppedConnection) throw thrown;
    connection = socket;
    const refusal =
      thrown instanceof PlainRefusal ? thrown : new PlainRefusal(500, "INTERNAL", "Something went wrong.");
    const { kind } = refusal;
    if (has("refusals-dropped") && createKinds.includes(kind)) throw new DroppedConnection();
    count += 1;
    if (kind in htmlFaults && has(htmlFaults[kind as keyof typeof htmlFaults])) {
      const headers = { "content-type": "text/html", "retry-after": "1" };
      return { status: refusal.status, headers, body: `<html>${refusal.message}</html>` };
    }
    if (refusal.code === "UNAUTHENTICATED" && has("redirect-to-login"))
      return { status: 302, headers: { location: "/login" }, body: "" };
    if (kind === "wrong-method" && has("empty-405")) return { status: 405, body: "" };
    const error = errorObject(refusal);
    const headers = headersOf(refusal, error);
    if (has("no-error-object"))
      return { status: refusal.status, headers, body: { message: refusal.message } };
    const isCreate = createKinds.includes(kind);
    if (kind === "policy" && has("policy-error-as-text"))
      return { status: refusal.status, headers, body: { error: refusal.code } };
    if (isCreate && has("error-not-utf8"))
      return {
        status: refusal.status,
        headers,
        body: { error: { ...error, message: "Geht nicht: é" } },
        encoding: "latin1",
      };
    if (isCreate && has("error-with-mark"))
      return { status: refusal.status, headers, body: `\uFEFF${JSON.stringify({ error })}` };
    if (has("error-without-members")) return { status: refusal.status, headers, body: { error: {} } };
    const second = has("second-top-level-object") && isCreate ? { problem: { status: refusal.status } } : {};
    return {
      status: statusOf(refusal),
      headers,
      body: { error, ...second },
    };
  }

  function statusOf({ kind, status }: PlainRefusal): number {
    if (has("errors-with-202")) return 202;
    const isSuccess = (createKinds.includes(kind) && has("error-with-200")) || has("errors-with-200");
    return isSuccess ? 200 : status;
  }

  function headersOf({ kind }: PlainRefusal, error: Record<string, unknown>): Record<string, string> {
    const id = has("other-request-id-in-header") ? randomUUID() : String(error["request_id"]);
    return {
      "x-request-id": id,
      ...(kind === "no-token" && !has("no-www-authenticate") ? { "www-authenticate": "Bearer" } : {}),
      ...(kind === "wrong-method" && !has("no-allow") ? { allow: "GET" } : {}),
      ...(kind === "quota" && !has("no-retry-after") ? { "retry-after": "1" } : {}),
    };
  }

  function errorObject({ kind, code, message }: PlainRefusal): Record<string, unknown> {
    const isCreate = createKinds.includes(kind);
    const id = isCreate ? createdId() : randomUUID();
    const hasNoId = kind in idFaults && has(idFaults[kind as keyof typeof idFaults]);
    const isLower = kind === "unknown-path" && has("lower-case-code-of-path");
    const isForPolicy =
      (kind === "malformed-json" && has("policy-code-for-malformed")) ||
      (kind === "no-token" && has("policy-code-without-token")) ||
      (message === notDecimal && has("policy-code-for-form"));
    if (isForPolicy) return { code: "POLICY_REJECTED", message, retryable: false, request_id: id };
    const shownCode =
      has("lower-case-code") || isLower ? code.toLowerCase() : has("code-varies") ? `${code}_${count}` : code;
    return {
      ...(isCreate && has("code-missing") ? {} : { code: codeOf(isCreate || isLower ? shownCode : code) }),
      ...((isCreate && has("message-missing")) || has("message-missing-everywhere")
        ? {}
        : { message: has("message-is-list") ? [message] : message }),
      retryable: has("error-off-schema") ? "no" : false,
      ...(hasNoId || id === undefined ? {} : { request_id: id }),
    };
  }

  function codeOf(code: string): string | number {
    return has("code-is-number") ? 4000 + code.length : code;
  }

  function createdId(): string | number | undefined {
    if (has("request-id-missing")) return undefined;
    if (has("request-id-number")) return count;
    if (has("request-id-per-connection")) {
      const id = idsOfConnections.get(connection) ?? randomUUID();
      idsOfConnections.set(connection, id);
      return id;
    }
    // Those of the first errors are not equal, so that a check that compares a few does not notice.
    if (has("request-id-reused")) return `req_${count % reusedIds}`;
    return has("request-id-constant") ? "req_1" : randomUUID();
  }
}
