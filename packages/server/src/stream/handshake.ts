import type { IncomingMessage } from "node:http";
import { streamProtocol } from "@bursar/protocol";
import type { Refused } from "../app/refused.js";

export interface HandshakeRules {
  /** Origins of pages that may open a stream; `*` lets in every page. */
  allowedOrigins: ReadonlySet<string>;
}

const keyPattern = /^[A-Za-z0-9+/]{22}==$/;
const protocolNamesMax = 16;

/** Whether a request can become a stream, by its headers alone; undefined means that nothing speaks against it. */
export function findHandshakeFault({ headers }: IncomingMessage, rules: HandshakeRules): Refused | undefined {
  if (headers["sec-websocket-version"] !== "13") return { refused: "UPGRADE_REQUIRED" };
  if (!keyPattern.test(headers["sec-websocket-key"] ?? ""))
    return faulty("sec-websocket-key", "is malformed");
  const { origin } = headers;
  const { allowedOrigins } = rules;
  // Browsers always send it, and nobody else has to.
  if (origin !== undefined && !allowedOrigins.has("*") && !allowedOrigins.has(origin))
    return { refused: "ORIGIN_NOT_ALLOWED" };
  const offered = headers["sec-websocket-protocol"]?.split(",", protocolNamesMax).map((name) => name.trim());
  return offered === undefined || offered.includes(streamProtocol)
    ? undefined
    : faulty("sec-websocket-protocol", `must offer ${streamProtocol}`);
}

function faulty(header: string, reason: string): Refused {
  return { refused: "INVALID_REQUEST", details: [{ path: `header.${header}`, reason }] };
}

/** The origins of the service itself and of the pages that the operator lets in. */
export function readAllowedOrigins(publicUrl: string, configured: string | undefined): Set<string> {
  const others = (configured ?? "").split(",").map((origin) => origin.trim());
  const own = URL.canParse(publicUrl) ? new URL(publicUrl).origin : "";
  return new Set([own, ...others].filter((origin) => origin !== ""));
}
