/** The database cannot be reached, or the connection was lost during a statement: whether it took effect is not known. */
export class DatabaseUnavailableError extends Error {}
