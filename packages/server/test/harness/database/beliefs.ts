/**
 * Whatever PostgreSQL believes about the tables. A statement is prepared once, often while its tables are empty, and statistics are of
 * the moment at which somebody happened to collect them: a queue that was empty then is full now.
 */
export const beliefs = {
  "were collected": "ANALYZE",
  "are missing": `
    UPDATE pg_class SET relpages = 0, reltuples = 0 WHERE relnamespace = 'public'::regnamespace;
    DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)`,
  "say that every table is empty": `
    UPDATE pg_class SET relpages = 1, reltuples = 0 WHERE relnamespace = 'public'::regnamespace;
    DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)`,
  "say that every table is huge": `
    UPDATE pg_class SET relpages = 1, reltuples = 1e6 WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
};
