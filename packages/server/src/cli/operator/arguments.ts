import { type Quota, quotaLimits } from "@bursar/domain";
import { allScopes, isScope, type QuotaClass, quotaClasses, readId, type Scope } from "@bursar/protocol";
import { InvalidArgumentError } from "commander";

export function nameArgument(text: string): string {
  if (text.length < 1 || text.length > 128)
    throw new InvalidArgumentError("It must have 1 to 128 characters.");
  return text;
}

export function idArgument(prefix: "tnt" | "cli") {
  return (text: string): string => {
    const id = readId(prefix, text);
    if (id === undefined)
      throw new InvalidArgumentError(`It must be ${prefix}_ and 26 letters and digits behind it.`);
    return id;
  };
}

export function scopeArgument(text: string, before: Scope[] = []): Scope[] {
  if (!isScope(text)) throw new InvalidArgumentError(`There are: ${allScopes.join(", ")}.`);
  return before.includes(text) ? before : [...before, text];
}

export function secondsArgument(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError("It must be a whole number of seconds.");
  return Number(text);
}

/** Quotas as they are written on the command line: `create=5/10` is 5 a second, and 10 at once. */
export function quotaArgument(
  text: string,
  before: Partial<Record<QuotaClass, Quota>> = {},
): Partial<Record<QuotaClass, Quota>> {
  const [, className, perSecond, burst] = /^([a-z]+)=(\d{1,9})\/(\d{1,9})$/.exec(text) ?? [];
  const quotaClass = quotaClasses.find((known) => known === className);
  if (quotaClass === undefined)
    throw new InvalidArgumentError(`It must be like create=5/10, with one of ${quotaClasses.join(", ")}.`);
  if (before[quotaClass] !== undefined)
    throw new InvalidArgumentError(`There is a quota for ${quotaClass} already.`);
  const quota = { perSecond: Number(perSecond), burst: Number(burst) };
  const isAllowed =
    quota.perSecond >= 1 &&
    quota.perSecond <= quotaLimits.perSecondMax &&
    quota.burst >= 1 &&
    quota.burst <= quotaLimits.burstMax;
  if (!isAllowed)
    throw new InvalidArgumentError(
      `There may be 1 to ${quotaLimits.perSecondMax} a second and 1 to ${quotaLimits.burstMax} at once.`,
    );
  return { ...before, [quotaClass]: quota };
}
