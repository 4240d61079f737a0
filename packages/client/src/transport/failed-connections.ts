/** How far a request can have come that failed without a response. */
export type Progress =
  /** There was no connection. */
  | "not_connected"
  /** There was no secure connection: no trust in the certificate, or the server does not speak TLS. Nothing was sent. */
  | "not_secure"
  /** The service can have received it. */
  | "perhaps_sent";

/**
 * The errors of connections that could not be made. Node's `fetch` publishes them, and passes on the same objects; their codes alone do not
 * tell a connection that was never made from one that was lost. Browsers have no such channel. There is one set for all clients, because the
 * channel belongs to the process.
 */
let failedConnections: WeakSet<object> | undefined;

interface DiagnosticsChannel {
  subscribe: (name: string, listener: (message: { error?: unknown }) => void) => void;
}

export function watchFailedConnections(): void {
  if (failedConnections !== undefined) return;
  const known = new WeakSet<object>();
  failedConnections = known;
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const channels = process?.getBuiltinModule?.("node:diagnostics_channel") as DiagnosticsChannel | undefined;
  channels?.subscribe("undici:client:connectError", ({ error }) => {
    if (typeof error === "object" && error !== null) known.add(error);
  });
}

/** Codes of failures before a connection could carry a request, for a `fetch` that does not publish them. */
const codesBeforeSending =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
const certificateCodes =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|ERR_TLS_CERT_|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$)/;
const handshakeCodes = /^ERR_(SSL|TLS)_/;

/** What the error of a `fetch` says. A browser gives no reason, so there every failure may have come after the request. */
export function readFailure(error: unknown): { progress: Progress; reason: string | undefined } {
  const { cause } = (error ?? {}) as { cause?: { code?: unknown; errors?: unknown } };
  if (typeof cause !== "object" || cause === null) return { progress: "perhaps_sent", reason: undefined };
  // With several addresses Node reports one error for each.
  const all: { code?: unknown }[] =
    Array.isArray(cause.errors) && cause.errors.length > 0 ? cause.errors : [cause];
  const codes = all.map(({ code }) => (typeof code === "string" && /^\w{1,64}$/.test(code) ? code : ""));
  const wasNotConnected = failedConnections?.has(cause) === true;
  const areAll = (pattern: RegExp) => codes.every((code) => pattern.test(code));
  const isNotSecure = areAll(certificateCodes) || (wasNotConnected && areAll(handshakeCodes));
  const reason = codes[0] === "" ? undefined : codes[0];
  if (isNotSecure) return { progress: "not_secure", reason };
  return {
    progress: wasNotConnected || areAll(codesBeforeSending) ? "not_connected" : "perhaps_sent",
    reason,
  };
}
