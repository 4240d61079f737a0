import type { FastifyInstance, HTTPMethods } from "fastify";
import { Refusal } from "../refusal.js";

/**
 * Answers the methods that a path does not support with 405 and `Allow`; the router alone would answer 404, as if the path did not
 * exist. A preflight is an OPTIONS request to such a path. Call it after all routes have been added.
 *
 * The common methods are routes. The 26 others, such as PROPFIND, are looked up when the router finds nothing: as routes they were 2000,
 * each of which the router compiles at the start, for requests that nobody makes.
 */
export function installMethodNotAllowed(
  app: FastifyInstance,
  methodsByPath: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  const common = app.supportedMethods as HTTPMethods[];
  const patterns: { pattern: RegExp; allow: string }[] = [];
  for (const [path, methods] of methodsByPath) {
    const allow = [...methods].sort().join(", ");
    patterns.push({ pattern: patternOf(path), allow });
    app.route({
      method: common.filter((method) => !methods.has(method)),
      url: path,
      config: { cors: { preflight: true, methods: [...methods].sort() } },
      // In a hook, before the body is read: the media type of this method's body does not matter.
      onRequest: (_request, _reply, done) => done(new Refusal("METHOD_NOT_ALLOWED", { headers: { allow } })),
      handler: () => undefined,
    });
  }
  app.addHook("onRequest", (request, _reply, done) => {
    if (!request.is404) return done();
    const path = request.url.split("?", 1)[0] ?? "";
    const known = patterns.find(({ pattern }) => pattern.test(path));
    if (known === undefined) return done();
    return done(new Refusal("METHOD_NOT_ALLOWED", { headers: { allow: known.allow } }));
  });
}

/** A path of the router as a pattern: `:id` is one segment, and `*` is the rest. */
function patternOf(path: string): RegExp {
  const parts = path.split("/").map((part) => {
    if (part.startsWith(":")) return "[^/]+";
    return part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
  });
  return new RegExp(`^${parts.join("/")}$`);
}

/** Collects the methods of each path as routes are added, until it is stopped. */
export function collectMethods(app: FastifyInstance): {
  methodsByPath: ReadonlyMap<string, ReadonlySet<string>>;
  stop: () => void;
} {
  const methodsByPath = new Map<string, Set<string>>();
  let isCollecting = true;
  app.addHook("onRoute", ({ url, method }) => {
    if (!isCollecting) return;
    const methods = methodsByPath.get(url) ?? new Set<string>();
    for (const name of [method].flat()) methods.add(name);
    methodsByPath.set(url, methods);
  });
  return {
    methodsByPath,
    stop: () => {
      isCollecting = false;
    },
  };
}
