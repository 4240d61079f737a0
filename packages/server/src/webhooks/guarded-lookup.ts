import { Resolver } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { judgeAddress, type PrivateNetworks } from "./judge-address.js";

/** A name resolves to an address that no webhook may be sent to. */
export class AddressRefusedError extends Error {}

export interface GuardedLookupOptions {
  resolveHost: ResolveHost;
  isLoopbackAllowed: boolean;
  privateNetworks: PrivateNetworks;
  /** Where to connect instead of a checked address; tests redirect public addresses to their own machine. */
  dialAs: (address: string) => string;
}

/**
 * The lookup that a new connection makes. It returns addresses that it has just judged, and the connection goes to one of those: a name
 * server that answers differently the next time has no effect. One bad address among good ones is enough to refuse, because it is a sign of
 * an attack.
 */
export function createGuardedLookup({
  resolveHost,
  isLoopbackAllowed,
  privateNetworks,
  dialAs,
}: GuardedLookupOptions): LookupFunction {
  const find = async (name: string): Promise<string[]> => {
    if (name === "localhost" && isLoopbackAllowed) return ["127.0.0.1", "::1"];
    const addresses = await resolveHost(name);
    if (addresses.length === 0) throw new Error(`${name} has no address`);
    for (const address of addresses) {
      const kind = judgeAddress(address);
      if (kind !== "public" && !privateNetworks.includes(address))
        throw new AddressRefusedError(`${name} resolves to an address that is ${kind ?? "malformed"}`);
    }
    return addresses.map(dialAs);
  };

  return (name, { all }, callback) => {
    find(name).then(
      (addresses) => {
        const entries = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
        const [first] = entries;
        if (all) callback(null, entries);
        else callback(null, first?.address ?? "", first?.family);
      },
      (error: Error) => callback(error, ""),
    );
  };
}

/** Finds every address of a name. */
export type ResolveHost = (name: string) => Promise<string[]>;

const resolveTimeoutMs = 2000;
const resolveTriesMax = 2;

/**
 * Asks the DNS directly and not the operating system's own function, which occupies one of the process's few threads for as long as
 * a name server takes: one tenant's slow name server would delay the file and name operations of all tenants. Search domains and the hosts file
 * are not looked at: a receiver's name is fully qualified and in the public DNS.
 */
export function createHostResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: resolveTimeoutMs, tries: resolveTriesMax });
  return async (name) => {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    if (ipv4.status === "rejected" && ipv6.status === "rejected") throw ipv4.reason;
    return [ipv4, ipv6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  };
}
