import { useState } from "react";
import type { Unanswered } from "./stored-requests";

interface Seen<Body> {
  folder: string;
  requests: readonly Unanswered<Body>[];
  ended: readonly Unanswered<Body>[];
}

/** Requests that another tab has had answered, or has forgotten, while this page was shown. `own` are the keys of what this tab ends itself. */
export function useEndedElsewhere<Body>(
  folder: string,
  requests: readonly Unanswered<Body>[],
  own: ReadonlySet<string>,
): readonly Unanswered<Body>[] {
  const [seen, setSeen] = useState<Seen<Body>>({ folder, requests, ended: [] });
  if (seen.requests !== requests || seen.folder !== folder) {
    const gone = seen.requests.filter(({ key }) => !own.has(key) && !requests.some((one) => one.key === key));
    // Those of another person are not gone, and are none of this one's business.
    setSeen({ folder, requests, ended: seen.folder === folder ? [...seen.ended, ...gone] : [] });
  }
  return seen.folder === folder ? seen.ended : [];
}
