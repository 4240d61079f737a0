import { padded, useDecimals } from "./asset-decimals";

interface AmountProps {
  value: string;
  asset?: string | undefined;
  /** Whether the asset stands behind the number. A column can name it in another place. */
  isNamed?: boolean;
}

/** An exact decimal number. Groups of three are set apart by style and not by characters, so that a copy is the number itself. */
export function Amount({ value, asset, isNamed = true }: AmountProps) {
  const decimals = useDecimals(asset);
  return (
    <span className="amount">
      {groupsOf(padded(value, decimals)).map(({ digits, at }) => (
        <span key={at} className="group">
          {digits}
        </span>
      ))}
      {isNamed && asset !== undefined && <span className="quiet"> {asset}</span>}
    </span>
  );
}

/** `1234567.891` is `1`, `234`, `567.891`: what follows the point stays with the last group. */
export function groupsOf(value: string): { digits: string; at: number }[] {
  const [whole = "", fraction] = value.split(".");
  const sign = whole.startsWith("-") ? 1 : 0;
  const first = sign + ((whole.length - sign) % 3 || 3);
  const groups = [{ digits: whole.slice(0, first), at: 0 }];
  for (let at = first; at < whole.length; at += 3) groups.push({ digits: whole.slice(at, at + 3), at });
  const last = groups.at(-1);
  if (last !== undefined && fraction !== undefined) last.digits += `.${fraction}`;
  return groups;
}
