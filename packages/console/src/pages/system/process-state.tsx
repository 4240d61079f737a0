import type { System } from "@bursar/client";
import { Time } from "../../ui/values/time";

/** Whether this process accepts requests. */
export function processState({ ready, overloaded }: Pick<System["process"], "ready" | "overloaded">): string {
  if (!ready) return "not_ready";
  return overloaded ? "overloaded" : "ready";
}

export function NotReady({ process: { not_ready } }: { process: Pick<System["process"], "not_ready"> }) {
  if (not_ready.length === 0) return null;
  return (
    <div className="notice" data-tone="bad" role="status">
      <p>This process is not ready, and load balancers send it no requests:</p>
      <ul>
        {not_ready.map(({ path, reason }) => (
          <li key={path}>
            {path} {reason}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The process that runs a market. The others would run it if that one ended. */
export function Holder({
  holder,
  own,
}: {
  holder: System["markets"][number]["holder"] | undefined;
  own: string;
}) {
  if (holder === undefined) return null;
  if (holder === null) return <span className="quiet">no process</span>;
  return (
    <>
      {holder.process_id === own ? "this process" : <code>{holder.process_id}</code>}
      {holder.since !== null && (
        <>
          {" since "}
          <Time at={holder.since} />
        </>
      )}
    </>
  );
}
