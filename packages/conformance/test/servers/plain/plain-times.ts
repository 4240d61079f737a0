/** How long the Plain server takes, and how often a fault shows. */

export const settleMs = 5;
/** For how long a change is announced and not yet shown, if that is the fault: a receiver has to notice it on a busy machine. */
export const hiddenMs = 600;
/** So slow that a request can be repeated before the result. */
export const slowSettleMs = 300;
export const raceMs = 60;
/** After so many transactions one is refused without a reason. */
export const failedCount = 9;
/** One of so many never gets a result, if that is the fault. */
export const unsettledEach = 4;
