import type { LookupFunction } from "node:net";
import { judgeAddress } from "./judge-address.js";
import type { PrivateNetworks } from "./private-networks.js";
import type { ResolveHost } from "./resolve-host.js";

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
