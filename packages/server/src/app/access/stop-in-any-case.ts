/** A wallet, a client, a transaction, a key that signs tokens, or the tenant itself. */
export interface StopSubject {
  tenantId: string;
  subjectId: string;
}

export interface StopFacts {
  /** Whether the payments that a client has requested are cancelled too. */
  cancelsPayments?: boolean;
  /** Whether the operator has stopped a client, so that another one alone does not end that. */
  byOperator?: boolean;
}

/**
 * Carries out what stops a subject. If that fails, the stop alone is recorded, and holds: nothing that something else has written to the
 * database, or holds locked, is in its way. It then counts as carried out, without its event, which is reported; unless the database was
 * unavailable, because then the caller retries all of it.
 */
export type StopInAnyCase = <T>(
  subject: StopSubject,
  stop: StopFacts & {
    act: () => Promise<T>;
    /** The answer if only the stop was recorded. */
    otherwise: () => Promise<T>;
    /**
     * Whether it was decided that the subject is stopped; asked after a failure. The subjects of all kinds have their records in one table: it
     * must have been found that this one is of the tenant and of the kind that is stopped.
     */
    isDecided: () => boolean;
    /** Called when only the stop was recorded, so that the audit log has it all the same. */
    onRecorded?: () => void;
  },
) => Promise<T>;

/** Keeps the orders of a stopped subject from trading that are still in a book when the stop is answered. */
export type HoldOrders = (subject: StopSubject) => Promise<void>;

export interface StopInAnyCaseDeps {
  /** One INSERT that depends on no other row. */
  recordStop: (subject: StopSubject, facts: StopFacts) => Promise<void>;
  isUnavailable: (error: unknown) => boolean;
  /** A stop was recorded that could not be carried out in full. */
  onIncomplete: (error: unknown, subject: StopSubject) => void;
}

export function createStopInAnyCase({
  recordStop,
  isUnavailable,
  onIncomplete,
}: StopInAnyCaseDeps): StopInAnyCase {
  return async (subject, { act, otherwise, isDecided, onRecorded, ...facts }) => {
    try {
      return await act();
    } catch (error) {
      if (!isDecided()) throw error;
      try {
        await recordStop(subject, facts);
      } catch {
        throw error;
      }
      onIncomplete(error, subject);
      onRecorded?.();
      if (isUnavailable(error)) throw error;
      return await otherwise();
    }
  };
}
