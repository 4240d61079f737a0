import { Transaction, TransactionPath } from "@bursar/protocol";
import { presentTransaction } from "../../app/transactions/present-transaction.js";
import type { Transaction as ReadTransaction } from "../../app/transactions/transaction.js";
import type { UseCases } from "../../app/use-cases.js";
import { principalOf, unwrap } from "../access/guard.js";
import { transactionIdOf } from "../resource-path.js";
import { defineRoute } from "../route.js";
import { knownVersion, transactionTag } from "../transaction-tag.js";

const waitSecondsMax = 30;

export function readTransaction({ readTransaction: read }: Pick<UseCases, "readTransaction">) {
  const present = rememberPresented();
  return defineRoute(
    {
      method: "GET",
      path: "/v1/transactions/:id",
      access: "transactions:read",
      operationId: "readTransaction",
      tag: "Transactions",
      summary: "Read the state of a transaction",
      description:
        "With `If-None-Match` the answer is 304 while nothing has changed; with `Prefer: wait=N` besides, it is held for up to min(N, 30) seconds until something does.",
      params: TransactionPath,
      success: { status: 200, schema: Transaction },
      errors: ["TRANSACTION_NOT_FOUND"],
    },
    async (request, reply) => {
      const id = transactionIdOf(request.params);
      const known = knownVersion(request.headers["if-none-match"], request.params.id);
      const waitSeconds = known === undefined ? 0 : preferredWait(request.headers["prefer"]);
      const waitFor =
        known === undefined || waitSeconds === 0
          ? undefined
          : { versionOtherThan: known, timeoutMs: waitSeconds * 1000 };
      const body = present(unwrap(await read(principalOf(request).principal.tenantId, id, waitFor)));
      if (waitSeconds > 0) reply.header("preference-applied", `wait=${waitSeconds}`);
      reply.header("etag", transactionTag(body.id, body.version));
      if (body.version === known) return reply.code(304).send();
      return body;
    },
  );
}

/** One that is over is read from memory, the same each time, and so is its presentation: that takes 6 µs. */
function rememberPresented() {
  const known = new WeakMap<ReadTransaction, Transaction>();
  return (transaction: ReadTransaction): Transaction => {
    const body = known.get(transaction) ?? presentTransaction(transaction);
    known.set(transaction, body);
    return body;
  };
}

/** The `wait` of a Prefer header (RFC 7240), within our bound. */
function preferredWait(prefer: string | string[] | undefined): number {
  const match = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/.exec([prefer ?? ""].flat().join(","));
  return Math.min(Number(match?.[1] ?? 0), waitSecondsMax);
}
