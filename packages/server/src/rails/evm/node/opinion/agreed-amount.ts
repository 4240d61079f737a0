/**
 * The amount that several nodes name: the median, so that a single one of three does not decide. With an even number of nodes it is the higher
 * of the two in the middle: gas that is not used costs nothing, and too little fails a payment. Undefined if that is more than twice the lower
 * one: one of them is wrong, and nothing says which.
 */
export function agreedAmount(amounts: readonly bigint[]): bigint | undefined {
  const ascending = amounts.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0));
  const lower = ascending[Math.floor((ascending.length - 1) / 2)];
  const higher = ascending[Math.floor(ascending.length / 2)];
  if (lower === undefined || higher === undefined || higher > 2n * lower) return undefined;
  return higher;
}
