import type { Transaction } from "@bursar/client";
import { bursar } from "../../api/bursar";
import { type LiveSource, rowsMax } from "../../live/live-list";
import { readRows } from "../../ui/tables/read-rows";
import { type TransactionFilters, timeFaults, toQuery } from "./filters";

const pageSize = 200;

export function listTransactions(filters: TransactionFilters, signal: AbortSignal) {
  return bursar.transactions.list({ ...toQuery(filters), limit: pageSize }, { signal }).pages();
}

/** What may not be followed is loaded often, so it is one page. */
function polledSource(filters: TransactionFilters): LiveSource<Transaction> {
  return {
    load: async (signal) => {
      const { rows, isCut } = await readRows(listTransactions(filters, signal), pageSize, () => undefined);
      return { rows, isCut, sequence: 0, epoch: "" };
    },
    follow: undefined,
  };
}

/** Follows without a filter of kinds, so that every sequence comes and a hole is noticed. */
export function liveSource(filters: TransactionFilters, mayFollow: boolean): LiveSource<Transaction> {
  if (Object.keys(timeFaults(filters)).length > 0) return nothing;
  if (!mayFollow) return polledSource(filters);
  return {
    load: async (signal) => {
      const { latest_sequence, epoch } = await bursar.events
        .list({ limit: 1, order: "desc" }, { signal })
        .page();
      const { rows, isCut } = await readRows(listTransactions(filters, signal), rowsMax / 2, () => undefined);
      return { rows, isCut, sequence: latest_sequence, epoch };
    },
    follow: (since, epoch, signal, onConnection) =>
      bursar.events.follow({ since, epoch, signal, onConnection }),
  };
}

/** What cannot be asked for matches nothing. */
const nothing: LiveSource<Transaction> = {
  load: async () => ({ rows: [], isCut: false, sequence: 0, epoch: "" }),
  follow: async function* (_since, _epoch, signal) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  },
};
