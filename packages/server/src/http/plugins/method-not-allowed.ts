import { METHODS } from "node:http";
import type { FastifyInstance, HTTPMethods } from "fastify";
import { Refusal } from "../refusal.js";

/** CONNECT never reaches the router. */
const allMethods = METHODS.filter((method) => method !== "CONNECT") as HTTPMethods[];

/**
 * Answers the methods that a path does not support with 405 and `Allow`; the router alone would answer 404, as if the path did not
 * exist. A preflight is an OPTIONS request to such a path. Call it after all routes have been added.
 */
export function installMethodNotAllowed(
  app: FastifyInstance,
  methodsByPath: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  for (const method of allMethods) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  for (const [path, methods] of methodsByPath) {
    const allow = [...methods].sort().join(", ");
    app.route({
      method: allMethods.filter((method) => !methods.has(method)),
      url: path,
      config: { cors: { preflight: true, methods: [...methods].sort() } },
      // In a hook, before the body is read: the media type of this method's body does not matter.
      onRequest: (_request, _reply, done) => done(new Refusal("METHOD_NOT_ALLOWED", { headers: { allow } })),
      handler: () => undefined,
    });
  }
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
