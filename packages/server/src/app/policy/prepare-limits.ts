import type { WindowKind } from "@bursar/domain";
import type { KeyedMutex } from "../../runtime/concurrency/keyed-mutex.js";
import type { Refused } from "../requests/refused.js";

/** Sums the past of windows that are not kept yet, for as long as a request can wait. The next call continues. */
export type PrepareWindows = (
  tenantId: string,
  /** The version that the new policy would replace. If another one is in force, nothing is prepared: the policy will be refused. */
  expectedVersion: number,
  windows: readonly WindowKind[],
) => Promise<"ready" | "filling">;

/** Must succeed before a policy is put in force: a limit that does not know the past would admit more than it says. */
export type PrepareLimits = (
  tenantId: string,
  expectedVersion: number,
  windows: readonly WindowKind[],
) => Promise<Refused | undefined>;

export function createLimitPreparation(prepareWindows: PrepareWindows, inTurn: KeyedMutex): PrepareLimits {
  return async (tenantId, expectedVersion, windows) => {
    if (windows.length === 0) return undefined;
    const preparing = inTurn(tenantId, () => prepareWindows(tenantId, expectedVersion, windows));
    return (await preparing) === "ready" ? undefined : notReady;
  };
}

const notReady: Refused = { refused: "LIMITS_NOT_READY", retryAfterSeconds: 1 };
