/** The connection was lost, or there is no database: whether the statement was done is not known. */
export class DatabaseGone extends Error {}

/** The database has refused a statement for a reason of its own, such as a lack of memory. */
export class StatementRefused extends Error {}

/** The database has refused a statement because of what it says. Code that is right never sees this. */
export class BrokenRule extends Error {}
