import { Resolver } from "node:dns/promises";

/** Finds every address of a name. */
export type ResolveHost = (name: string) => Promise<string[]>;

const timeoutMs = 2000;
const triesMax = 2;

/**
 * Asks the DNS directly and not the operating system's own function, which occupies one of the process's few threads for as long as
 * a name server takes: one tenant's slow name server would delay the file and name operations of all tenants. Search domains and the hosts file
 * are not looked at: a receiver's name is fully qualified and in the public DNS.
 */
export function createHostResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: timeoutMs, tries: triesMax });
  return async (name) => {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    if (ipv4.status === "rejected" && ipv6.status === "rejected") throw ipv4.reason;
    return [ipv4, ipv6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  };
}
