import type { ClaimedDelivery, ParkedDelivery } from "../receiver/receiver-store.js";

/** The tables of a store in a database, for PostgreSQL as well as SQLite. */
export const deliveryTables = `
CREATE TABLE IF NOT EXISTS bursar_deliveries (
  delivery_id text NOT NULL PRIMARY KEY,
  event_key text NOT NULL UNIQUE,
  epoch text NOT NULL,
  sequence bigint NOT NULL,
  subject text,
  version bigint,
  body text NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'processed', 'stale', 'skipped', 'parked')),
  attempts integer NOT NULL DEFAULT 0,
  error text,
  received_at_ms bigint NOT NULL,
  next_attempt_at_ms bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS bursar_deliveries_due ON bursar_deliveries (next_attempt_at_ms) WHERE state = 'pending';
CREATE INDEX IF NOT EXISTS bursar_deliveries_parked ON bursar_deliveries (sequence) WHERE state = 'parked';
CREATE INDEX IF NOT EXISTS bursar_deliveries_sequence ON bursar_deliveries (epoch, sequence);
CREATE INDEX IF NOT EXISTS bursar_deliveries_received ON bursar_deliveries (received_at_ms);
CREATE TABLE IF NOT EXISTS bursar_subjects (
  subject text NOT NULL,
  epoch text NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (subject, epoch)
);
CREATE TABLE IF NOT EXISTS bursar_epochs (
  epoch text NOT NULL PRIMARY KEY,
  known_to bigint NOT NULL
);
`;

/** Raises what is known of epochs; it begins with the rows to insert. */
export const onKnownEpoch =
  "ON CONFLICT (epoch) DO UPDATE SET known_to = excluded.known_to WHERE bursar_epochs.known_to < excluded.known_to";

export const deliveryColumns =
  "delivery_id, event_key, epoch, sequence, subject, version, body, attempts, error";

/** A row of a database driver. */
export type DeliveryRow = Readonly<Record<string, unknown>>;

export function readClaimed(row: DeliveryRow): ClaimedDelivery {
  const [subject, version] = [row["subject"] ?? null, row["version"] ?? null];
  return {
    id: String(row["delivery_id"]),
    eventKey: String(row["event_key"]),
    epoch: String(row["epoch"]),
    sequence: Number(row["sequence"]),
    subject: subject === null ? null : String(subject),
    version: version === null ? null : Number(version),
    body: String(row["body"]),
    attempts: Number(row["attempts"]),
  };
}

export function readParked(row: DeliveryRow): ParkedDelivery {
  return { ...readClaimed(row), error: String(row["error"]) };
}
