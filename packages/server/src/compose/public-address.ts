import type { Logger } from "pino";
import type { Settings } from "../config/settings.js";
import { OperatorError } from "../operator-error.js";

/** The address at which clients reach the service; a wildcard host is replaced by loopback. */
export function publicUrlOf({ public_url, host, port }: Settings): string {
  if (public_url !== undefined) return public_url.replace(/\/+$/, "");
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** Without the proxy's address, all clients behind it would share one quota for failures, and one address in the audit log. */
export function checkProxySettings(
  { public_url, trusted_proxies, proxy_protocol }: Settings,
  log: Logger,
): void {
  if (trusted_proxies !== undefined) return;
  if (proxy_protocol === "true")
    throw new OperatorError(
      "proxy_protocol is true, but trusted_proxies (environment BURSAR_TRUSTED_PROXIES) is not set. Set it to the addresses of the proxies.",
    );
  if (public_url !== undefined)
    log.warn(
      "public_url is set, but trusted_proxies is not. If a proxy is in front of the service, set BURSAR_TRUSTED_PROXIES to its address; otherwise all clients appear to have the proxy's address.",
    );
}
