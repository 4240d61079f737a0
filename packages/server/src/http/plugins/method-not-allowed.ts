import { METHODS } from "node:http";
import type { FastifyInstance, HTTPMethods } from "fastify";
import { Refusal } from "../refusal.js";

/** CONNECT never reaches the router. */
const allMethods = METHODS.filter((method) => method !== "CONNECT") as HTTPMethods[];

/**
 * Gives every path an answer for the methods that it does not take: 405 with `Allow`. The router alone would say 404, as if
 * the path did not exist. Call it after every route has been added.
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
      schema: { hide: true },
      // A refusal in a hook comes before the body is read: it does not matter what this method's body would be.
      onRequest: (_request, _reply, done) => done(new Refusal("METHOD_NOT_ALLOWED", { headers: { allow } })),
      handler: () => undefined,
    });
  }
}

/** Collects which methods each path takes, as routes are added, until it is told to stop. */
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
