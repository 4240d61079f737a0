/** How long the Plain server takes, and how often a fault shows. */

export const settleMs = 5;
/** For how long a change is announced and not yet shown, if that is the fault: a receiver has to notice it on a busy machine. */
export const hiddenMs = 600;
/** So slow that a request can be repeated before the result. */
export const slowSettleMs = 300;
export const raceMs = 60;
/** After so many transactions one is refused without a reason. */
export const failedCount = 14;
/** One of so many never gets a result, if that is the fault. */
export const unsettledEach = 4;
/** Keys with more characters are those of transactions that no check waits for. */
export const longKey = 60;
/** The transaction that is lost although others are kept, and how often a final one is shown before it is lost. */
export const lostIndex = 8;
export const lostAfterReads = 1;
/** As many as one check reads. */
export const staleMax = 4;
/** As many requests at once as one check sends. */
export const crowd = 8;
/** The fault that changes a state after a minute concerns only the first ones, which no check looks at later than the one meant for it. */
export const changedLater = 2;
/** So many ids differ, if that is the fault. */
export const manyIds = 60;
/** What a transaction fails for, and for how long it stays so if it changes then. */
export const failingAmount = "7.77";
export const failedMs = 40;

/** Before the checks of notifications begin. */
export const twiceCount = 8;
export const twiceEach = 60;
