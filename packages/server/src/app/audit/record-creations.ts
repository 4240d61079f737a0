import type { Principal } from "../access/authenticate-request.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { ClientOrigin } from "./audit-entry.js";
import type { AuditRecorder } from "./audit-recorder.js";

type Create<Args extends unknown[], Created> = (
  principal: Principal,
  ...args: Args
) => Promise<Created | Refused>;

/** A use case that creates something, with an audit entry for what it creates. A repeated request creates nothing. */
export type Recorded<Use> =
  Use extends Create<infer Args, infer Created>
    ? (origin: ClientOrigin, ...args: Args) => Promise<Created | Refused>
    : never;

export function recordCreations<Args extends unknown[], Created extends { replayed: boolean }>(
  audit: Pick<AuditRecorder, "recordAct">,
  action: string,
  create: Create<Args, Created>,
  objectOf: (created: Created) => string,
): (origin: ClientOrigin, ...args: Args) => Promise<Created | Refused> {
  return async (origin, ...args) => {
    const created = await create(origin.principal, ...args);
    if (!isRefused(created) && !created.replayed) audit.recordAct(origin, action, objectOf(created));
    return created;
  };
}
