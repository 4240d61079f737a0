import { isIP } from "node:net";
import type { UrlJudge } from "../app/webhooks/webhook-post.js";
import { createRecentCache } from "../runtime/recent-cache.js";
import { judgeAddress, type PrivateNetworks } from "./judge-address.js";

export interface UrlRules {
  /** The sandbox allows a receiver on the same machine: `http://127.0.0.1:…`, `http://localhost:…`, `http://[::1]:…`. */
  isLoopbackAllowed: boolean;
  /** Whether a URL may have an address instead of a name; it must be one that may be connected to all the same. */
  areLiteralsAllowed: boolean;
  privateNetworks: PrivateNetworks;
}

const urlLengthMax = 2048;
/** Below 1024 other services listen, which have no use for what we send. */
const unprivilegedPortMin = 1024;
/** Names that no receiver has. */
const closedZones = ["localhost", "onion", "invalid", "alt"];
/** Names that the public DNS does not resolve, so that only a host of the internal network can answer for them. */
const privateZones = ["local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa"];

/**
 * Judges a URL as it is written. The platform's own parser reads it, the one that also connects, and knows every spelling of an
 * address (`0x7f.1`, `2130706433`, `０１７７.0.0.1`), so that there is nothing for two parsers to disagree about.
 */
export function createUrlJudge(rules: UrlRules): UrlJudge {
  return (text) => {
    const reason = findFault(text, rules);
    return reason === undefined ? { ok: true } : { ok: false, reason };
  };
}

function findFault(text: string, rules: UrlRules): string | undefined {
  if (text.length > urlLengthMax) return `it is longer than ${urlLengthMax} characters`;
  // The parser drops some of these and turns others into something else; no receiver needs them.
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(text)) return "it has characters that no URL has";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return "it is no URL";
  if (url.username !== "" || url.password !== "" || /^[^/]*\/\/[^/?#]*@/.test(text))
    return "it has credentials in it";
  if (text.includes("#")) return "it has a fragment, which is never sent";
  if (isLoopbackHost(url.hostname) && rules.isLoopbackAllowed) {
    return url.protocol === "http:" || url.protocol === "https:"
      ? undefined
      : "it must begin with http:// or https://";
  }
  if (url.protocol !== "https:") return "it must begin with https://";
  return findPortFault(url.port) ?? findHostFault(url.hostname, rules);
}

function findPortFault(port: string): string | undefined {
  return port === "" || Number(port) >= unprivilegedPortMin
    ? undefined
    : `its port must be 443, or ${unprivilegedPortMin} or higher`;
}

function findHostFault(host: string, { areLiteralsAllowed, privateNetworks }: UrlRules): string | undefined {
  const address = literalOf(host);
  if (address !== undefined) {
    if (!areLiteralsAllowed) return "it has an IP address instead of a host name";
    const kind = judgeAddress(address);
    return kind === "public" || privateNetworks.includes(address)
      ? undefined
      : `its address is not public but ${kind ?? "malformed"}`;
  }
  if (host.endsWith(".")) return "its host ends with a dot";
  if (!host.includes(".")) return "its host is not a full name";
  const zones = privateNetworks.isEmpty ? [...closedZones, ...privateZones] : closedZones;
  const zone = zones.find((name) => host === name || host.endsWith(`.${name}`));
  return zone === undefined ? undefined : `names under ${zone} are not public`;
}

/** The address that stands in place of a host name, as the URL parser writes it. */
function literalOf(host: string): string | undefined {
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  return isIP(bare) === 0 ? undefined : bare;
}

/** Whether the host is this machine by its form alone, whatever a DNS may say. */
function isLoopbackHost(host: string): boolean {
  return host === "localhost" || judgeAddress(literalOf(host) ?? "") === "loopback";
}

/** The parts of an allowed URL, or why it is not allowed. */
type Target = { ok: true; origin: string; path: string } | { ok: false; reason: string };

const targetsMax = 4096;

/**
 * Judges URLs and takes them apart. The result depends on nothing but the string, and the same few are needed again and again, so it is
 * cached: 10 of 40 µs that a request costs this process went into it.
 */
export function createTargets(judgeUrl: UrlJudge): (url: string) => Target {
  const targets = createRecentCache<Target>(targetsMax);
  const judge = (url: string): Target => {
    const judged = judgeUrl(url);
    if (!judged.ok) return judged;
    const { origin, pathname, search } = new URL(url);
    return { ok: true, origin, path: pathname + search };
  };
  return (url) => {
    const known = targets.get(url);
    if (known !== undefined) return known;
    const target = judge(url);
    targets.set(url, target);
    return target;
  };
}
