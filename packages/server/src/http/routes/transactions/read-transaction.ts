import { Transaction, TransactionPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, reviewAgain, unwrap } from "../../access/guard.js";
import { knownVersion, namesTag, transactionTag } from "../../entity-tags.js";
import { transactionIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

const waitSecondsMax = 30;

export function readTransaction({
  showTransaction: show,
  tagSuffix,
}: Pick<UseCases, "showTransaction" | "tagSuffix">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/transactions/:id",
      access: "transactions:read",
      operationId: "readTransaction",
      tag: "Transactions",
      summary: "Read the state of a transaction",
      description:
        "With `If-None-Match` the response is 304 if nothing has changed. With `Prefer: wait=N` in addition, the response is delayed for up to min(N, 30) seconds until something changes.",
      params: TransactionPath,
      ifNoneMatch: true,
      takesNoTurns: true,
      prefersWait: true,
      success: {
        status: 200,
        schema: Transaction,
        description: "The transaction.",
        headers: ["ETag"],
        examples: ["completed", "awaiting_approval", "failed"],
      },
      errors: ["TRANSACTION_NOT_FOUND"],
    },
    async (request, reply) => {
      const id = transactionIdOf(request.params);
      const known = knownVersion(request.headers["if-none-match"], request.params.id, tagSuffix());
      const waitSeconds = known === undefined ? 0 : preferredWait(request.headers["prefer"]);
      const review = () => reviewAgain(request);
      const waitFor =
        known === undefined || waitSeconds === 0
          ? undefined
          : { versionOtherThan: known, timeoutMs: waitSeconds * 1000, review };
      const body = unwrap(await show(principalOf(request).principal.tenantId, id, waitFor));
      if (waitFor !== undefined) await review();
      if (waitSeconds > 0) reply.header("preference-applied", `wait=${waitSeconds}`);
      const tag = transactionTag(body, tagSuffix());
      reply.header("etag", tag);
      if (namesTag(request.headers["if-none-match"], tag)) return reply.code(304).send();
      return body;
    },
  );
}

/** The `wait` of a Prefer header (RFC 7240: case-insensitive, quoted or bare), within the bound. */
function preferredWait(prefer: string | string[] | undefined): number {
  const match = /(?:^|[,;\s])wait\s*=\s*("?)(\d+)\1(?:$|[,;\s])/i.exec([prefer ?? ""].flat().join(","));
  return Math.min(Number(match?.[2] ?? 0), waitSecondsMax);
}
