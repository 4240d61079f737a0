/** Something that the person who starts the signer has to put right. Its message says what to do; no stack trace is shown for it. */
export class OperatorError extends Error {}
