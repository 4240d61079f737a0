/** The least id of version 7 that could have been made at a time. */
export function idAt(time: Date): string {
  const hex = Math.max(time.getTime(), 0).toString(16).padStart(12, "0").slice(-12);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
