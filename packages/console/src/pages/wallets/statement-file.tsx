import type { WalletEntry } from "@bursar/client";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAbort } from "../../ui/forms/use-abort";
import { Problem } from "../../ui/panels/problem";
import { type CsvColumn, downloadCsv, toCsv } from "../../ui/tables/csv";
import { type AmountText, useAmountText } from "../../ui/values/asset-decimals";
import { readEntries } from "./read-entries";

const entriesMax = 10_000;

type Progress =
  | { state: "reading"; count: number }
  | { state: "saved"; count: number; isCut: boolean }
  | { state: "failed"; error: unknown };

/** Saves the newest entries of a statement as a file, says if there are older ones, and can be stopped. */
export function StatementFile({ walletId, asset }: { walletId: string; asset: string }) {
  const [progress, setProgress] = useState<Progress>();
  const abort = useAbort();
  const amountText = useAmountText();
  const save = async () => {
    const signal = abort.begin();
    const show = (next: Progress) => {
      if (!signal.aborted) setProgress(next);
    };
    show({ state: "reading", count: 0 });
    try {
      const pages = bursar.wallets.entries(walletId, { asset, limit: 200 }, { signal }).pages();
      const { rows, isCut } = await readEntries(pages, entriesMax, (count) =>
        show({ state: "reading", count }),
      );
      if (signal.aborted) return;
      downloadCsv(`statement-${asset}`, toCsv(csvColumns(amountText), rows));
      show({ state: "saved", count: rows.length, isCut });
    } catch (error) {
      show({ state: "failed", error });
    }
  };
  const stop = () => {
    abort.end();
    setProgress(undefined);
  };
  return (
    <div className="row">
      <span role="status" className="quiet small">
        {progress?.state === "reading" && `${progress.count} entries read`}
        {progress?.state === "saved" && savedText(progress)}
      </span>
      {progress?.state === "failed" && <Problem error={progress.error} />}
      {progress?.state === "reading" ? (
        <button type="button" className="button" onClick={stop}>
          Stop
        </button>
      ) : (
        <button type="button" className="button" onClick={() => void save()}>
          Download as CSV
        </button>
      )}
    </div>
  );
}

function savedText({ count, isCut }: { count: number; isCut: boolean }): string {
  return isCut
    ? `The file has only the newest ${count} entries. GET /v1/wallets/{id}/entries has the older ones.`
    : `The file has all ${count} entries.`;
}

const csvColumns = (amountText: AmountText): readonly CsvColumn<WalletEntry>[] => [
  ["occurred_at", (row) => row.occurred_at],
  ["asset", (row) => row.asset],
  ["amount", ({ amount, asset }) => amountText(amount, asset)],
  ["balance", ({ balance, asset }) => amountText(balance, asset)],
  ["cause", (row) => row.cause],
  ["cause_id", (row) => row.cause_id],
  ["reference", (row) => row.reference],
  ["sequence", (row) => String(row.sequence)],
];
