/**
 * Something that the person who starts the service has to put right: a taken port, a wrong setting of their database, a
 * data folder in use. Its message is one sentence that says what to do; no stack trace is shown for it.
 */
export class OperatorError extends Error {}

/** A command that took effect, or did not. Its message says how to find out. */
export class UnknownOutcome extends OperatorError {}
