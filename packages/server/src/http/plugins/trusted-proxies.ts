import type { FastifyInstance } from "fastify";
import { readAddress } from "../../runtime/address-block.js";
import { installProxyProtocol, type ProxyProtocolOptions } from "./proxy-protocol.js";

export interface TrustedProxiesOptions extends Pick<ProxyProtocolOptions, "log"> {
  /** Addresses or networks, separated by commas. */
  trustedProxies: string | undefined;
  /** Whether these proxies send the client's address with the PROXY protocol. */
  proxyProtocol: boolean;
  limits: { headersTimeoutMs: number };
}

/** Takes the address of a client from what the proxies say that are listed. */
export function installTrustedProxies(app: FastifyInstance, options: TrustedProxiesOptions): void {
  const { trustedProxies, proxyProtocol, limits, log } = options;
  if (trustedProxies === undefined) return;
  if (proxyProtocol)
    installProxyProtocol(app.server, { trustedProxies, timeoutMs: limits.headersTimeoutMs, log });
  keepForwardedAddresses(app);
}

const header = "x-forwarded-for";

/**
 * Leaves nothing but addresses in `X-Forwarded-For`, before the client's address is taken from it for quotas, sessions and the audit log. A
 * proxy may write `unknown`, append a port, or pass on what the client has sent.
 */
function keepForwardedAddresses(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { headers } = request.raw;
    const given = headers[header];
    // Never removed: that there is one shows that a proxy has sent the request.
    if (given !== undefined) headers[header] = keepAddresses(`${given}`);
    done();
  });
}

/** From the last one, which the nearest proxy has written, up to what is no address: nobody vouches for what is before that. */
function keepAddresses(forwarded: string): string {
  const hops = forwarded
    .split(",")
    .map((hop) => hop.trim())
    .filter((hop) => hop !== "")
    .map(readAddress);
  return hops.slice(hops.lastIndexOf(undefined) + 1).join(", ");
}
