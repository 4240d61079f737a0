import { useSyncExternalStore } from "react";
import type { LiveList } from "./live-list";

/** Whether the list is live, and a button that holds it still. */
export function LiveControls<Row>({ list }: { list: LiveList<Row> }) {
  const { waiting, isPaused, connection } = useSyncExternalStore(list.subscribe, list.state);
  return (
    <>
      <span className="badge" data-tone={connection === "live" ? "good" : "wait"} role="status">
        {isPaused ? "paused" : connection}
      </span>
      <button type="button" className="button" aria-pressed={isPaused} onClick={() => list.pause(!isPaused)}>
        {isPaused ? `Show ${waiting} new` : "Pause"}
      </button>
    </>
  );
}
