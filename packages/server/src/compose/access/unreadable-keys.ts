import type { Logger } from "pino";
import type { Metric } from "../../runtime/metric.js";

/** Names them in the log, in the order of the list. */
const namedMax = 10;
/** So many are shown to clients: somebody who writes to the database can insert any number. */
const shownMax = 100;

export interface UnreadableKeys {
  /** Called with all of them at every load. */
  see: (kids: readonly string[]) => void;
  shown: () => readonly string[];
  metric: Metric;
}

/** The keys for tokens that the master key does not decrypt. The service goes on without them, and says so. */
export function createUnreadableKeys(log: Pick<Logger, "error">): UnreadableKeys {
  let current: ReadonlySet<string> = new Set();
  return {
    see: (kids) => {
      const added = kids.filter((kid) => !current.has(kid));
      current = new Set(kids);
      if (added.length > 0)
        log.error(
          { keys: added.slice(0, namedMax), count: added.length },
          "The master key does not decrypt a key for access tokens: something other than Bursar has written its row, or it was encrypted with a master key that is not listed. The key is not used, and the others are. Remove it with `bursar keys revoke`.",
        );
    },
    shown: () => [...current].slice(0, shownMax),
    metric: {
      kind: "gauge",
      name: "bursar_unreadable_token_keys",
      help: "Keys for access tokens in the database that the master key does not decrypt. They are not used.",
      read: () => current.size,
    },
  };
}
