/**
 * The least id that carries a time. Of any version: a row that was not written by the service, with an id of another version, is found and
 * set aside like every other one.
 */
export function idAt(time: Date): string {
  const hex = Math.max(time.getTime(), 0).toString(16).padStart(12, "0").slice(-12);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
