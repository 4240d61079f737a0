import type { FastifyInstance, HTTPMethods } from "fastify";
import { Refusal } from "../refusal.js";

/**
 * Answers the methods that a path does not support with 405 and `Allow`; the router alone would answer 404, as if the path did not
 * exist. Call it after all routes have been added.
 *
 * Paths are compared when the router finds nothing. As routes these methods took 0.2 s of the CPU of a start, because the router
 * compiles each of them. Routes are left where the router would find something else: a preflight, which is an OPTIONS request, and a path
 * that a parameter of another one matches.
 */
export function installMethodNotAllowed(
  app: FastifyInstance,
  methodsByPath: ReadonlyMap<string, ReadonlySet<string>>,
  answersPreflights: boolean,
): void {
  const paths = [...methodsByPath].map(([path, methods]) => describePath(path, methods)).sort(byParameters);
  const common = app.supportedMethods as HTTPMethods[];
  for (const one of paths) {
    const { path, methods, allow } = one;
    const hidden = methodsBehind(one, paths);
    const refused = common.filter(
      (method) => !methods.has(method) && (hidden.has(method) || (answersPreflights && method === "OPTIONS")),
    );
    if (refused.length === 0) continue;
    app.route({
      method: refused,
      url: path,
      config: { cors: { preflight: true, methods: [...methods].sort() } },
      // In a hook, before the body is read: the media type of this method's body does not matter.
      onRequest: (_request, _reply, done) => done(new Refusal("METHOD_NOT_ALLOWED", { headers: { allow } })),
      handler: () => undefined,
    });
  }
  app.addHook("onRequest", (request, _reply, done) => {
    if (!request.is404) return done();
    const asked = decode(request.url.split("?", 1)[0] ?? "");
    const known = paths.find(({ pattern }) => pattern.test(asked));
    if (known === undefined) return done();
    return done(new Refusal("METHOD_NOT_ALLOWED", { headers: { allow: known.allow } }));
  });
}

interface KnownPath {
  path: string;
  methods: ReadonlySet<string>;
  allow: string;
  pattern: RegExp;
  parameters: number;
}

function describePath(path: string, methods: ReadonlySet<string>): KnownPath {
  const allow = [...methods].sort().join(", ");
  return { path, methods, allow, pattern: patternOf(path), parameters: path.match(/[:*]/g)?.length ?? 0 };
}

/** As for the router, a literal segment goes before a parameter. */
function byParameters(one: KnownPath, other: KnownPath): number {
  return one.parameters - other.parameters;
}

/** The methods that the router would find for this path at another one, such as `/v1/things/:id` for `/v1/things/all`. */
function methodsBehind({ path, parameters }: KnownPath, paths: readonly KnownPath[]): ReadonlySet<string> {
  const sample = path.replaceAll(/:\w+/g, "x");
  const wider = paths.filter((other) => other.parameters > parameters && other.pattern.test(sample));
  return new Set(wider.flatMap(({ methods }) => [...methods]));
}

/** What is not encoded correctly stays as it is. */
function decode(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
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
