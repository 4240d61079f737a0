import { type Quota, quotaLimits } from "@bursar/domain";
import { allScopes, isScope, type QuotaClass, quotaClasses, readId, type Scope } from "@bursar/protocol";
import { InvalidArgumentError } from "commander";

export function nameArgument(text: string): string {
  if (text.length < 1 || text.length > 128)
    throw new InvalidArgumentError("The name must have 1 to 128 characters.");
  return text;
}

export function idArgument(prefix: "tnt" | "cli" | "wlt") {
  return (text: string): string => {
    const id = readId(prefix, text);
    if (id === undefined)
      throw new InvalidArgumentError(`The id must be ${prefix}_ followed by 26 letters and digits.`);
    return id;
  };
}

export function scopeArgument(text: string, before: Scope[] = []): Scope[] {
  if (!isScope(text)) throw new InvalidArgumentError(`The scopes are ${allScopes.join(", ")}.`);
  return before.includes(text) ? before : [...before, text];
}

export function switchArgument(text: string): boolean {
  if (text !== "on" && text !== "off") throw new InvalidArgumentError("The value must be on or off.");
  return text === "on";
}

export function sequenceArgument(text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidArgumentError("The value must be a whole number.");
  return Number(text);
}

export function keyArgument(text: string): string {
  if (!/^[\x21-\x7e]{1,128}$/.test(text))
    throw new InvalidArgumentError("The key must have 1 to 128 visible ASCII characters.");
  return text;
}

export function secondsArgument(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError("The value must be a whole number of seconds.");
  return Number(text);
}

/** Parses a quota: `create=5/10` is 5 a second, with bursts of 10. */
export function quotaArgument(
  text: string,
  before: Partial<Record<QuotaClass, Quota>> = {},
): Partial<Record<QuotaClass, Quota>> {
  const [, className, perSecond, burst] = /^([a-z]+)=(\d{1,9})\/(\d{1,9})$/.exec(text) ?? [];
  const quotaClass = quotaClasses.find((known) => known === className);
  if (quotaClass === undefined)
    throw new InvalidArgumentError(
      `A quota looks like create=5/10; the classes are ${quotaClasses.join(", ")}.`,
    );
  if (before[quotaClass] !== undefined)
    throw new InvalidArgumentError(`The quota for ${quotaClass} is given twice.`);
  const quota = { perSecond: Number(perSecond), burst: Number(burst) };
  const isAllowed =
    quota.perSecond >= 1 &&
    quota.perSecond <= quotaLimits.perSecondMax &&
    quota.burst >= 1 &&
    quota.burst <= quotaLimits.burstMax;
  if (!isAllowed)
    throw new InvalidArgumentError(
      `The rate must be 1 to ${quotaLimits.perSecondMax} a second, and the burst 1 to ${quotaLimits.burstMax}.`,
    );
  return { ...before, [quotaClass]: quota };
}
