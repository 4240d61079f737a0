import { useScopes } from "../session/use-me";

/** Whether the person may follow the stream. It carries events, whatever else it is asked for. */
export function useMayFollow(): boolean {
  return useScopes().includes("events:read");
}

/** Said to those who may not follow the stream, where others have it. */
export function NotLive({ everyMs }: { everyMs: number }) {
  if (useMayFollow()) return null;
  return (
    <p className="quiet small">
      This page is not live, because your role does not have events:read. It is read again every{" "}
      {everyMs / 1000} seconds.
    </p>
  );
}
