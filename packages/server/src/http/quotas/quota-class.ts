import type { QuotaClass } from "@bursar/protocol";
import type { Route } from "../route.js";

type CountedRoute = Pick<Route, "method" | "path"> & { access: Exclude<Route["access"], "open"> };

/** Which of a client's quotas a route counts against: the one place where that is decided, from the route's own row. */
export function quotaClassOf({ method, path, access }: CountedRoute): QuotaClass {
  if (access === "oauth") return "auth";
  if (path.startsWith("/v1/stream")) return "stream";
  if (access.endsWith(":manage") || access === "audit:read") return "manage";
  if (method === "GET") return "read";
  return path.endsWith("/batch") ? "bulk" : "create";
}

/** Whether a route brings new work, which is refused while the service cannot keep up. */
export function bringsWork({ method, path, access }: Pick<Route, "method" | "path" | "access">): boolean {
  if (access === "open") return false;
  const quotaClass = quotaClassOf({ method, path, access });
  return quotaClass === "create" || quotaClass === "bulk";
}
