/** The key of a deposit as it is stored beside those of payments, which have no space. */
export function depositKeyOf(idempotencyKey: string): string {
  return `deposits ${idempotencyKey}`;
}
