import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useMe } from "../../session/use-me";
import { Problem } from "../../ui/panels/problem";
import { Time } from "../../ui/values/time";
import { readEntries } from "./read-entries";
import { type ChainReport, type SeenPosition, verifyChain } from "./verify-chain";

/** How many more are read at most, each time, to reach the entry that this browser saw last. */
const entriesStep = 10_000;
const checkpointsMax = 50;

/** Reads the newest part of the log and says what of it can be verified here, and what cannot. */
export function ChainCheck() {
  const tenantId = useMe().data?.tenant.id ?? "";
  const [max, setMax] = useState(entriesStep);
  const check = useAction({ mutationFn: (entriesMax: number) => readAndVerify(tenantId, entriesMax) });
  const verify = (entriesMax: number) => {
    setMax(entriesMax);
    check.mutate(entriesMax);
  };
  return (
    <section className="card stack" aria-labelledby="chain">
      <div className="row spread">
        <h2 id="chain">The chain of entries</h2>
        <button type="button" className="button" disabled={check.isPending} onClick={() => verify(max)}>
          {check.isPending ? "Verifying" : "Verify"}
        </button>
      </div>
      {check.error !== null && <Problem error={check.error} />}
      {check.data !== undefined && <Report report={check.data} />}
      {check.data?.seen?.state === "not reached" && (
        <button
          type="button"
          className="button"
          disabled={check.isPending}
          onClick={() => verify(max + entriesStep)}
        >
          Read further back
        </button>
      )}
      <p className="quiet small">
        This page verifies that the numbers have no gap, that the log still has the hashes that the service
        has signed in its checkpoints, and the one that this browser has seen before. The hashes are keyed:
        that each follows from its entry and the one before is verified by bursar audit verify, where the key
        is.
      </p>
    </section>
  );
}

function Report({ report: { from, to, confirmed, faults, seen } }: { report: ChainReport }) {
  if (faults.length > 0)
    return (
      <div className="notice" data-tone="bad" role="alert">
        <p>The log is not as it should be. Tell the operator, who runs bursar audit verify.</p>
        <ul>
          {faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      </div>
    );
  const newest = confirmed[0];
  return (
    <div className="notice" role="status">
      <p>
        {to - from + 1} entries were checked: {from} to {to} have no gap.{" "}
        {newest === undefined ? (
          "No checkpoint has been signed for them yet: the service signs one each minute."
        ) : (
          <>
            {confirmed.length} signed checkpoint(s) agree with them; the newest is of entry {newest.number},{" "}
            <Time at={newest.time} long />.
          </>
        )}
      </p>
      {seen !== undefined && <p>{seenWords(seen)}</p>}
    </div>
  );
}

function seenWords({ number, state }: NonNullable<ChainReport["seen"]>): string {
  const entry = `Entry ${number}, the last one that this browser saw,`;
  if (state === "reached") return `${entry} has the same hash as then.`;
  if (state === "removed")
    return `${entry} was exported and removed since. It was not compared, and the newest entry is remembered in its place.`;
  return `${entry} was not reached, and not compared. This browser goes on remembering it.`;
}

async function readAndVerify(tenantId: string, entriesMax: number): Promise<ChainReport> {
  const [{ keys }, events] = await Promise.all([
    bursar.audit.keys(),
    bursar.events.list({ kinds: ["audit.checkpoint"], order: "desc", limit: checkpointsMax }).page(),
  ]);
  const checkpoints = events.data.flatMap((event) =>
    event.event === "audit.checkpoint" ? [event.data.checkpoint] : [],
  );
  // After the checkpoints, so that the log is at least as long as they say.
  const seen = readSeen(tenantId);
  const pages = bursar.audit.list({ limit: 200 }).pages();
  const read = await readEntries(pages, seen?.number, entriesMax);
  const report = await verifyChain(read, checkpoints, keys, seen);
  const [newest] = read.entries;
  if (report.faults.length === 0 && report.seen?.state !== "not reached" && newest !== undefined)
    localStorage.setItem(storageKey(tenantId), JSON.stringify({ number: newest.number, hash: newest.hash }));
  return report;
}

const storageKey = (tenantId: string) => `bursar.audit.${tenantId}`;

function readSeen(tenantId: string): SeenPosition | undefined {
  const stored = localStorage.getItem(storageKey(tenantId));
  if (stored === null) return undefined;
  try {
    const { number, hash } = JSON.parse(stored) as Partial<SeenPosition>;
    return typeof number === "number" && typeof hash === "string" ? { number, hash } : undefined;
  } catch {
    return undefined;
  }
}
