/** An address in full. Groups of four are set apart by style, so that a copy is the address itself. */
export function Address({ address }: { address: string }) {
  return (
    <span className="address mono">
      {groupsOfFour(address).map(({ group, at }) => (
        <span key={at} className="group">
          {group}
        </span>
      ))}
    </span>
  );
}

/** `0x` is a group of its own, as the digits after it are what is compared. */
export function groupsOfFour(address: string): { group: string; at: number }[] {
  const first = address.startsWith("0x") ? 2 : 0;
  const groups = first === 0 ? [] : [{ group: address.slice(0, first), at: 0 }];
  for (let at = first; at < address.length; at += 4) groups.push({ group: address.slice(at, at + 4), at });
  return groups;
}

/** Addresses of EVM networks differ in case alone by their checksum. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (one.startsWith("0x") && one.toLowerCase() === other.toLowerCase());
}
