/** Whether two decimal numbers that were typed are the same, however their last zeros are written. Neither of them can be missing alone. */
export function isSameAmount(one: string | undefined, other: string | undefined): boolean {
  return withoutZeros(one) === withoutZeros(other);
}

function withoutZeros(amount: string | undefined): string | undefined {
  return amount?.includes(".") ? amount.replace(/\.?0*$/, "") : amount;
}
