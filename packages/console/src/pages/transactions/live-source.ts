import type { Transaction } from "@bursar/client";
import { bursar } from "../../api/bursar";
import { type LiveSource, rowsMax } from "../../live/live-list";
import { type TransactionFilters, toQuery } from "./filters";

const pageSize = 200;

/** Follows without a filter of kinds, so that every sequence comes and a hole is noticed. */
export function liveSource(filters: TransactionFilters): LiveSource<Transaction> {
  return {
    load: async (signal) => {
      const { latest_sequence, epoch } = await bursar.events
        .list({ limit: 1, order: "desc" }, { signal })
        .page();
      const rows: Transaction[] = [];
      for await (const page of bursar.transactions
        .list({ ...toQuery(filters), limit: pageSize }, { signal })
        .pages()) {
        rows.push(...page.data);
        if (rows.length >= rowsMax / 2) break;
      }
      return { rows, sequence: latest_sequence, epoch };
    },
    follow: (since, epoch, signal) => bursar.events.follow({ since, epoch, signal }),
  };
}
