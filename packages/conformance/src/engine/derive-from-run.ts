import type { Exchange } from "../http/send.js";
import type { Session } from "./session.js";

/**
 * What `derive` makes of each exchange of a run, in their order. Checks ask for it as often as there are transactions and notifications, so
 * each exchange is looked at once, when it is finished.
 */
export function deriveFromRun<T>(derive: (exchange: Exchange, session: Session) => readonly T[]) {
  const known = new WeakMap<Session, { count: number; readonly all: T[] }>();
  return (session: Session): readonly T[] => {
    const { exchanges } = session;
    const kept = known.get(session) ?? { count: 0, all: [] };
    known.set(session, kept);
    for (; kept.count < exchanges.length; kept.count += 1) {
      const exchange = exchanges[kept.count];
      if (exchange === undefined || exchange.isPending === true) break;
      kept.all.push(...derive(exchange, session));
    }
    const later = exchanges.slice(kept.count);
    return later.length === 0
      ? kept.all
      : [...kept.all, ...later.flatMap((exchange) => derive(exchange, session))];
  };
}
