import type { PolicyDocument, PolicyEvaluation, Transaction } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { Amount } from "../../ui/amount";
import { ForeignText } from "../../ui/foreign-text";
import { Problem } from "../../ui/problem";
import { type Column, VirtualTable } from "../../ui/virtual-table";
import { createComparer, type Outcome } from "./compare-payments";

interface Changed {
  transaction: Transaction;
  before: Outcome;
  after: Outcome;
}

interface Progress {
  read: number;
  skipped: number;
  changed: Changed[];
  isRunning: boolean;
  error?: unknown;
}

const paymentsMax = 1000;
const atOnce = 4;

/** Evaluates the draft for the last payments, a few at a time, and shows those that it would decide differently. */
export function RecentPayments({ document }: { document: PolicyDocument }) {
  const mayRead = useScopes().includes("transactions:read");
  const [progress, setProgress] = useState<Progress>();
  const ending = useRef<AbortController>(undefined);
  useEffect(() => () => ending.current?.abort(), []);
  if (!mayRead) return null;
  const run = async () => {
    ending.current?.abort();
    const controller = new AbortController();
    ending.current = controller;
    const { signal } = controller;
    const found: Progress = { read: 0, skipped: 0, changed: [], isRunning: true };
    const show = (part: Partial<Progress>) => {
      if (signal.aborted) return;
      Object.assign(found, part);
      setProgress({ ...found });
    };
    show({});
    const compare = createComparer(
      (body) => bursar.policy.evaluate(body, { signal }) as Promise<PolicyEvaluation>,
      document,
    );
    try {
      const judge = async (transaction: Transaction) => {
        const outcome = await compare(transaction);
        if (outcome === undefined) show({ read: found.read + 1, skipped: found.skipped + 1 });
        else
          show({
            read: found.read + 1,
            changed: outcome.isSame ? found.changed : [...found.changed, { transaction, ...outcome }],
          });
      };
      let left = paymentsMax;
      for await (const page of bursar.transactions.list({ limit: 200 }, { signal }).pages()) {
        const rows = page.data.slice(0, left);
        left -= rows.length;
        const queue = [...rows];
        const work = async () => {
          for (let next = queue.shift(); next !== undefined; next = queue.shift()) await judge(next);
        };
        await Promise.all(Array.from({ length: atOnce }, work));
        if (left === 0) break;
      }
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
              ending.current?.abort();
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
          {progress.read} compared, {progress.changed.length} would be decided differently.
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
