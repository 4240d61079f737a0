import type { PolicyDocument, PolicyEvaluation } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar, quotas } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { useAbort } from "../../ui/forms/use-abort";
import { Problem } from "../../ui/panels/problem";
import type { Column } from "../../ui/tables/table-head";
import { VirtualTable } from "../../ui/tables/virtual-table";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { type Changed, compareAll, type Tally } from "./compare-all";
import { createComparer, type Outcome } from "./compare-payments";

interface Progress extends Tally {
  isRunning: boolean;
  error?: unknown;
}

const paymentsMax = 1000;

/** Evaluates the draft for the last payments, a few at a time, and shows those that it would decide differently. */
export function RecentPayments({ document }: { document: PolicyDocument }) {
  const mayRead = useScopes().includes("transactions:read");
  const [progress, setProgress] = useState<Progress>();
  const abort = useAbort();
  if (!mayRead) return null;
  const run = async () => {
    const signal = abort.begin();
    let found: Progress = { read: 0, skipped: 0, changed: [], isRunning: true };
    const show = (part: Partial<Progress>) => {
      if (signal.aborted) return;
      found = { ...found, ...part };
      setProgress(found);
    };
    show({});
    const pages = (until: AbortSignal) => bursar.transactions.list({ limit: 200 }, { signal: until }).pages();
    const compare = createComparer(
      (body, until) => bursar.policy.evaluate(body, { signal: until }) as Promise<PolicyEvaluation>,
      document,
    );
    try {
      // Half of the quota stays free for what else the person does, such as disabling a client.
      const pauseMs = () => quotas.msUntilHalf("manage");
      await compareAll({ pages, compare, pauseMs, max: paymentsMax, show, signal });
      show({ isRunning: false });
    } catch (error) {
      show({ isRunning: false, error });
    }
  };
  return (
    <div className="card stack">
      <div className="row spread">
        <h3>The last {paymentsMax} transactions</h3>
        {progress?.isRunning === true ? (
          <button
            type="button"
            className="button"
            onClick={() => {
              abort.end();
              setProgress({ ...progress, isRunning: false });
            }}
          >
            Stop
          </button>
        ) : (
          <button type="button" className="button" onClick={() => void run()}>
            Compare the draft with the policy in force
          </button>
        )}
      </div>
      {progress === undefined ? (
        <p className="quiet">
          Each is evaluated as if it were requested at its time by its client. Sums and counts are those of
          now.
        </p>
      ) : (
        <p role="status">
          {progress.read} of at most {paymentsMax} compared
          {progress.isRunning && ", more are under way"}, {progress.changed.length} would be decided
          differently.
          {progress.skipped > 0 &&
            ` ${progress.skipped} of them are not judged by the policy, or cannot be any more.`}
        </p>
      )}
      {progress?.error !== undefined && <Problem error={progress.error} />}
      {progress !== undefined && progress.changed.length > 0 && (
        <VirtualTable
          caption="What would change"
          columns={columns}
          rows={progress.changed}
          keyOf={({ transaction }) => transaction.id}
        />
      )}
    </div>
  );
}

const columns: readonly Column<Changed>[] = [
  {
    title: "Reference",
    cell: ({ transaction: { id, reference } }) => (
      <Link to="/transactions/$id" params={{ id }}>
        <ForeignText text={reference} limit={60} />
      </Link>
    ),
  },
  {
    title: "Amount",
    isNumber: true,
    cell: ({ transaction: { amount, asset } }) => <Amount value={amount} asset={asset} />,
  },
  { title: "In force", cell: ({ before }) => <OutcomeText outcome={before} /> },
  { title: "Draft", cell: ({ after }) => <OutcomeText outcome={after} /> },
];

function OutcomeText({ outcome: { action, rule, approvals } }: { outcome: Outcome }) {
  return (
    <>
      {action.replaceAll("_", " ")}
      {approvals !== undefined && ` (${approvals})`} <code>{rule}</code>
    </>
  );
}
