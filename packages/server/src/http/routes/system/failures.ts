import { FailureList, FailurePath, RetriedFailure, readId, showId } from "@bursar/protocol";
import type { Failure } from "../../../app/system/system.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, principalOf, unwrap } from "../../access/guard.js";
import { Refusal } from "../../refusal.js";
import { defineRoute } from "../../route.js";

/** The prefixes of the ids of each kind. */
const prefixes = { transaction: "tx", order: "ord", wallet: "wlt", delivery: "dlv" } as const;

export function listFailures({ listFailures: list }: Pick<UseCases, "listFailures">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/system/failures",
      access: "system:manage",
      operationId: "listFailures",
      tag: "System",
      summary: "List what the service could not process",
      description:
        "Transactions, orders, wallets and deliveries of this tenant that failed because of a fault of the service. They are retried by themselves. The operator sees the reason with `bursar failures list`.",
      success: { status: 200, schema: FailureList, description: "What has failed." },
      errors: [],
    },
    async (request) => {
      const found = await list(principalOf(request).principal.tenantId);
      return { data: found.map(present) };
    },
  );
}

export function retryFailure({ retryFailure: retry }: Pick<UseCases, "retryFailure">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/system/failures/:id/retry",
      access: "system:manage",
      operationId: "retryFailure",
      tag: "System",
      summary: "Retry something that failed",
      description: "Makes it due at once. It can be repeated.",
      params: FailurePath,
      success: { status: 200, schema: RetriedFailure, description: "It is due." },
      errors: ["FAILURE_NOT_FOUND"],
    },
    async (request) => {
      const { id } = request.params;
      unwrap(await retry(originOf(request), { ...readFailureId(id), shownId: id }));
      return { id, state: "due" as const };
    },
  );
}

function present({ kind, id, attempts, retryAt, isSetAside }: Failure) {
  const isWaiting = retryAt !== undefined && retryAt.getTime() > Date.now();
  return {
    object: "failure" as const,
    kind,
    id: showId(prefixes[kind], id),
    attempts,
    state: isSetAside ? ("set_aside" as const) : isWaiting ? ("waiting" as const) : ("due" as const),
    retry_at: isWaiting ? retryAt.toISOString() : null,
  };
}

function readFailureId(shown: string): Pick<Failure, "kind" | "id"> {
  for (const [kind, prefix] of Object.entries(prefixes)) {
    const id = readId(prefix, shown);
    if (id !== undefined) return { kind: kind as Failure["kind"], id };
  }
  throw new Refusal("FAILURE_NOT_FOUND");
}
