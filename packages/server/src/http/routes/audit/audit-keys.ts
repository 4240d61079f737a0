import { JsonWebKeySet } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { defineRoute } from "../../route.js";

/** Not part of `jwks.json`: a key that signs checkpoints must not verify tokens. */
export function auditKeys({ listAuditKeys }: Pick<UseCases, "listAuditKeys">) {
  return defineRoute(
    {
      method: "GET",
      path: "/.well-known/bursar-audit-keys.json",
      access: "open",
      operationId: "getAuditKeys",
      tag: "Audit",
      summary: "Read the public keys that verify checkpoints of the audit log",
      description:
        "A checkpoint's `key_id` is the `kid` of its key. Keep a copy: an operator who can replace the keys can sign other checkpoints.",
      success: {
        status: 200,
        schema: JsonWebKeySet,
        description: "The public keys.",
        headers: ["Cache-Control"],
      },
      errors: [],
    },
    (_request, reply) => {
      reply.header("cache-control", "public, max-age=60");
      return { keys: listAuditKeys() };
    },
  );
}
