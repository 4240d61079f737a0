import type { IncomingMessage } from "node:http";
import { streamProtocol } from "@bursar/protocol";
import type { Refused } from "../app/requests/refused.js";

export interface HandshakeRules {
  /** Origins of pages that may open a stream; `*` allows every page. */
  allowedOrigins: ReadonlySet<string>;
}

const keyPattern = /^[A-Za-z0-9+/]{22}==$/;
/** A `token` of RFC 9110. */
const namePattern = /^[\w!#$%&'*+.^`|~-]+$/;
const protocolNamesMax = 16;

/** Whether a request can become a stream, by its headers alone; undefined if it can. */
export function findHandshakeFault(request: IncomingMessage, rules: HandshakeRules): Refused | undefined {
  const { headers, httpVersion } = request;
  if (httpVersion !== "1.1" || headers["sec-websocket-version"] !== "13")
    return { refused: "UPGRADE_REQUIRED" };
  if (!keyPattern.test(headers["sec-websocket-key"] ?? ""))
    return faulty("sec-websocket-key", "is malformed");
  // Its bytes would be taken for frames.
  for (const name of ["content-length", "transfer-encoding"])
    if ((headers[name] ?? "0") !== "0")
      return faulty(name, "declares a body, which a stream cannot begin with");
  const { origin } = headers;
  const { allowedOrigins } = rules;
  // Browsers always send it; other clients need not.
  if (origin !== undefined && !allowedOrigins.has("*") && !allowedOrigins.has(origin))
    return { refused: "ORIGIN_NOT_ALLOWED" };
  const reason = findProtocolFault(headers["sec-websocket-protocol"]);
  return reason === undefined ? undefined : faulty("sec-websocket-protocol", reason);
}

/** This is as strict as the library, which would otherwise refuse the request with a response that is not of the error catalog. */
function findProtocolFault(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const names = header.split(/[ \t]*,[ \t]*/);
  if (names.length > protocolNamesMax) return `must not offer more than ${protocolNamesMax}`;
  if (!names.every((name) => namePattern.test(name)) || new Set(names).size !== names.length)
    return "must be a list of names, each of them once";
  return names.includes(streamProtocol) ? undefined : `must offer ${streamProtocol}`;
}

function faulty(header: string, reason: string): Refused {
  return { refused: "INVALID_REQUEST", details: [{ path: `header.${header}`, reason }] };
}

/** The origins of the service itself and of the pages that the operator allows. */
export function readAllowedOrigins(publicUrl: string, configured: string | undefined): Set<string> {
  const others = (configured ?? "").split(",").map((origin) => origin.trim());
  const own = URL.canParse(publicUrl) ? ownOrigins(new URL(publicUrl)) : [];
  return new Set([...own, ...others].filter((origin) => origin !== ""));
}

const loopbackHosts = ["127.0.0.1", "localhost", "[::1]"];

/** On this machine alone a browser may use any name of it. */
function ownOrigins({ origin, protocol, hostname, port }: URL): string[] {
  if (!loopbackHosts.includes(hostname)) return [origin];
  return loopbackHosts.map((host) => `${protocol}//${host}${port === "" ? "" : `:${port}`}`);
}
