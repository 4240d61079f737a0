/** The database cannot be reached, or went away during a statement: whether that was done is not known. */
export class DatabaseUnavailableError extends Error {}
