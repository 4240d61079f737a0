import { showId, WalletEntryCsv, WalletEntryPage, WalletEntryQuery, WalletPath } from "@bursar/protocol";
import type { EntryPosition } from "../../../app/overview/overview.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { sendCsv, wantsCsv } from "../../csv.js";
import { readCursor, toPage } from "../../cursor.js";
import { walletIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function listWalletEntries({ listWalletEntries: list }: Pick<UseCases, "listWalletEntries">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/wallets/:id/entries",
      access: "wallets:read",
      operationId: "listWalletEntries",
      tag: "Overview",
      summary: "Read the statement of a wallet",
      description:
        "Every change of the balance of an asset, newest first, with its cause and the balance after it. What an order has traded at once is one entry for each asset. `lag` says how current it is. With `Accept: text/csv` the page is CSV with a header line, as RFC 4180 describes it; `Next-Cursor` continues it.",
      params: WalletPath,
      query: WalletEntryQuery,
      success: {
        status: 200,
        schema: WalletEntryPage,
        description: "A page of entries.",
        headers: ["Next-Cursor"],
        csv: WalletEntryCsv,
      },
      errors: ["WALLET_NOT_FOUND"],
    },
    async (request, reply) => {
      const { limit = 50, cursor, asset } = request.query;
      const { tenantId, scopes } = principalOf(request).principal;
      const { entries, lag } = unwrap(
        await list({
          tenantId,
          walletId: walletIdOf(request.params),
          asset,
          limit: limit + 1,
          before: readPosition(readCursor("entries", cursor)),
        }),
      );
      const page = toPage(
        "entries",
        entries,
        limit,
        ({ sequence, line }) => `${sequence}.${line}`,
        ({ causeId, occurredAt, cause, reference, ...entry }) => ({
          ...entry,
          asset,
          cause,
          cause_id: showId(cause === "order" ? "ord" : "tx", causeId),
          reference: scopes.has(`${cause}s:read`) ? reference : null,
          occurred_at: occurredAt.toISOString(),
        }),
      );
      if (!wantsCsv(request)) return { ...page, lag };
      return sendCsv(reply, columns, page);
    },
  );
}

const columns = [
  "sequence",
  "line",
  "occurred_at",
  "asset",
  "amount",
  "balance",
  "cause",
  "cause_id",
  "reference",
] as const;

function readPosition(position: string | undefined): EntryPosition | undefined {
  const [sequence, line] = position?.split(".") ?? [];
  return sequence === undefined ? undefined : { sequence: Number(sequence), line: Number(line) };
}
