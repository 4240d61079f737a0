import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Route } from "../route.js";

/** A person confirms the operation, the path and the bytes of the body, unless the route says otherwise. */
export function passkeyOf({ passkey, operationId }: Route) {
  if (passkey !== true) return passkey;
  return (request: FastifyRequest) => ({
    act: operationId,
    target: request.raw.url ?? "",
    digest: createHash("sha256")
      .update(request.rawBody ?? "")
      .digest("hex"),
  });
}
