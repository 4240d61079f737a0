import { useEffect, useRef, useState } from "react";
import { useAbort } from "../forms/use-abort";
import { Problem } from "../panels/problem";
import { downloadCsv } from "./csv";
import { readRows } from "./read-rows";

const csvRowsMax = 10_000;

interface CsvFileProps<Row> {
  /** Of the file. */
  name: string;
  /** What the rows are called. */
  rows: string;
  /** Where the rows are that a file does not hold. */
  others: string;
  /** Says which rows they are: when it changes, what is being read is read again. */
  of: string;
  pagesOf: (signal: AbortSignal) => AsyncIterable<{ data: Row[]; next_cursor: string | null }>;
  toCsv: (rows: readonly Row[]) => string | Promise<string>;
}

type Progress =
  | { state: "reading"; count: number }
  | { state: "saved"; count: number; isCut: boolean }
  | { state: "failed"; error: unknown };

/** Saves all rows of a list as a file, not only those that a page has loaded, says if there are more, and can be stopped. */
export function CsvFile<Row>(props: CsvFileProps<Row>) {
  const [progress, setProgress] = useState<Progress>();
  const abort = useAbort();
  const save = async () => {
    const signal = abort.begin();
    const show = (next: Progress) => {
      if (!signal.aborted) setProgress(next);
    };
    show({ state: "reading", count: 0 });
    try {
      const { rows, isCut } = await readRows(props.pagesOf(signal), csvRowsMax, (count) =>
        show({ state: "reading", count }),
      );
      const csv = await props.toCsv(rows);
      if (signal.aborted) return;
      downloadCsv(props.name, csv);
      show({ state: "saved", count: rows.length, isCut });
    } catch (error) {
      show({ state: "failed", error });
    }
  };
  const stop = () => {
    abort.end();
    setProgress(undefined);
  };
  // A click on the button can be what ends the typing of a filter: the file is then of the new one.
  const saved = useRef(props.of);
  useEffect(() => {
    if (saved.current === props.of) return;
    saved.current = props.of;
    if (progress?.state === "reading") void save();
    else setProgress(undefined);
  });
  return (
    <div className="row">
      <span role="status" className="quiet small">
        {progress?.state === "reading" && `${progress.count} ${props.rows} read`}
        {progress?.state === "saved" && savedText(progress, props)}
      </span>
      {progress?.state === "failed" && <Problem error={progress.error} retry={() => void save()} />}
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

function savedText(
  { count, isCut }: { count: number; isCut: boolean },
  { rows, others }: { rows: string; others: string },
): string {
  return isCut
    ? `The file has only the newest ${count} ${rows}. ${others}`
    : `The file has all ${count} ${rows}.`;
}
